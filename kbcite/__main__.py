from kbcite.cli.app import main

main()
