"""The few verbs that join the layers below."""
