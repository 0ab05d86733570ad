echo "Using user ID: $USER_ID"
echo "agent: I am here for $1"
echo :DONE
while read -r line; do
    echo "agent: You said:"
    echo "$line"
    echo :DONE
done
