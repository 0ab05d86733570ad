//! `changes` and `graph.watch`: values of several types, patterns and ranges.

use super::*;

#[test]
fn a_value_of_no_type_that_it_may_have() {
    problems(
        &least_and(
            "assertions:\n  - changes:\n      created: 5\n      deleted: nothing\n      changed:\n      turn: often\n  - changes:\n      created: [{node: 7, count: [1]}, {node: []}, {node: A, where: [x]}]\n",
        ),
        r#"
job.yml:8:16: `created`: expected `none`, `any` or a list, found the integer 5
  |
8 |       created: 5
  |                ^

job.yml:9:16: `deleted` can't be "nothing"
  |
9 |       deleted: nothing
  |                ^^^^^^^
  = expected one of: none, any

job.yml:10:7: `changed`: expected `none`, `any` or a list, found nothing
   |
10 |       changed:
   |       ^^^^^^^

job.yml:11:13: `turn`: expected an integer or a mapping, found the string "often"
   |
11 |       turn: often
   |             ^^^^^

job.yml:13:24: `node`: expected a string or a list, found the integer 7
   |
13 |       created: [{node: 7, count: [1]}, {node: []}, {node: A, where: [x]}]
   |                        ^

job.yml:13:34: `count`: expected an integer or a mapping, found a list
   |
13 |       created: [{node: 7, count: [1]}, {node: []}, {node: A, where: [x]}]
   |                                  ^

job.yml:13:41: `node` is empty; it needs at least one entry
   |
13 |       created: [{node: 7, count: [1]}, {node: []}, {node: A, where: [x]}]
   |                                         ^^^^

job.yml:13:69: `where`: expected a mapping, found a list
   |
13 |       created: [{node: 7, count: [1]}, {node: []}, {node: A, where: [x]}]
   |                                                                     ^
"#,
    );
}

#[test]
fn what_no_property_can_be() {
    problems(
        &least_and(
            "assertions:\n  - changes:\n      created:\n        - node: A\n          where: {a: {regx: x}, b: {regex: \"a(\"}, c: {min: 2, max: 1}, d: {}, e: {type: text}}\n        - relationship: R\n          to: {where: {f: {min: 1, max: \"2\"}}}\n      changed: [{node: A, set: {g: {type: date, min: 1}}}]\n",
        ),
        r#"
job.yml:10:23: unknown key `regx`
   |
10 |           where: {a: {regx: x}, b: {regex: "a("}, c: {min: 2, max: 1}, d: {}, e: {type: text}}
   |                       ^^^^
   = expected one of: type, regex, min, max, equals
   = help: did you mean `regex`?

job.yml:10:44: this is no regular expression: unclosed group
   |
10 |           where: {a: {regx: x}, b: {regex: "a("}, c: {min: 2, max: 1}, d: {}, e: {type: text}}
   |                                            ^^^^
   = help: a sign that stands for itself has a backslash before it: `\(`

job.yml:10:60: `min` is more than `max`: no value is in between
   |
10 |           where: {a: {regx: x}, b: {regex: "a("}, c: {min: 2, max: 1}, d: {}, e: {type: text}}
   |                                                            ^

job.yml:10:72: an empty mapping says nothing of the property
   |
10 |           where: {a: {regx: x}, b: {regex: "a("}, c: {min: 2, max: 1}, d: {}, e: {type: text}}
   |                                                                        ^
   = help: say what the property must be like, or write `equals: {}` for an empty map

job.yml:10:89: `type` can't be "text"
   |
10 |           where: {a: {regx: x}, b: {regex: "a("}, c: {min: 2, max: 1}, d: {}, e: {type: text}}
   |                                                                                         ^^^^
   = expected one of: string, integer, float, number, boolean, list, map, date, time, localtime, datetime, localdatetime, duration, point

job.yml:12:41: `min` and `max` are a number and a text: no value is both
   |
12 |           to: {where: {f: {min: 1, max: "2"}}}
   |                                         ^^^

job.yml:13:54: no value of this `type` can be compared with a number
   |
13 |       changed: [{node: A, set: {g: {type: date, min: 1}}}]
   |                                                      ^
"#,
    );
}

#[test]
fn ranges_without_a_number_in_them() {
    problems(
        &least_and(
            "graph: {watch: {labels: [\" \"], maxNodes: 100001, nodes: 1}}\nassertions:\n  - changes: {turn: {min: 3, max: 2}, created: [{node: A, count: {min: 2, max: 1}}, {node: B, count: -1}]}\n  - changes: {turn: 0}\n",
        ),
        r#"
job.yml:6:26: an entry of `labels` is blank
  |
6 | graph: {watch: {labels: [" "], maxNodes: 100001, nodes: 1}}
  |                          ^^^

job.yml:6:42: `maxNodes` must be from 0 to 100000, found 100001
  |
6 | graph: {watch: {labels: [" "], maxNodes: 100001, nodes: 1}}
  |                                          ^^^^^^

job.yml:6:50: unknown key `nodes`
  |
6 | graph: {watch: {labels: [" "], maxNodes: 100001, nodes: 1}}
  |                                                  ^^^^^
  = expected one of: labels, where, maxNodes

job.yml:8:27: `min` is more than `max`: no number is in between
  |
8 |   - changes: {turn: {min: 3, max: 2}, created: [{node: A, count: {min: 2, max: 1}}, {node: B, count:…
  |                           ^

job.yml:8:72: `min` is more than `max`: no number is in between
  |
8 | …x: 2}, created: [{node: A, count: {min: 2, max: 1}}, {node: B, count: -1}]}
  |                                          ^

job.yml:8:102: `count` must be at least 0, found -1
  |
8 | …nt: {min: 2, max: 1}}, {node: B, count: -1}]}
  |                                          ^^

job.yml:9:21: `turn` must be at least 1, found 0
  |
9 |   - changes: {turn: 0}
  |                     ^
"#,
    );
}
