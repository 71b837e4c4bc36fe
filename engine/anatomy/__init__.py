"""What a body is: names and roles of bones, which are bodies, sizes, masses, joint limits, strengths."""
