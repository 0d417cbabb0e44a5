"""The commands of `milepost`: one file each, heavy imports inside."""
