"""The event loop, the shared prefix cache, costs and records.

Import what you need from the modules; this package stays light so that placers can be used
where simpy is absent.
"""
