"""Ways to say the same thing differently: code is rewritten so that it means what it meant.

`catalogue.REWRITINGS` lists all of them. A rewriting is a function from the files of a small project to other files, or
to None where there is nothing that it could say in another way. `marks` follows lines through rewritings, `trials` asks
modellint about an example before and after, and `python tests/rewriting table` prints what share is found.
"""
