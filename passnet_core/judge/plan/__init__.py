"""Plans: what the replacement functions of a bundle launch, recorded, executed and described."""
