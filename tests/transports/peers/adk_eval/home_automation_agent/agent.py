"""ADK's sample, as it stands beside this file; its model answers by a script."""

from scripted import scripted

from .sample import root_agent

root_agent.model = scripted(__file__)
