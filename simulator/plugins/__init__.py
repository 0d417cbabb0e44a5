"""The plug-in interface: protocols of policies, and the objects passed to them."""
