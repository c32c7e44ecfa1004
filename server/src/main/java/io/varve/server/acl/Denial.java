package io.varve.server.acl;

/**
 * The reason why a command is denied. Immutable. If several selectors of a user deny for different reasons, the user
 * gets the reason with the highest weight.
 */
public enum Denial {
    COMMAND(1, "command", "no permission to execute the command or subcommand"), //
    KEY(2, "key", "no permission to touch the specified keys"), //
    AUTH(3, "auth", "no permission"), //
    CHANNEL(4, "channel", "no permission to access one of the channels used as arguments");

    private final int weight;
    private final String word;
    private final String inTransaction;

    Denial(int weight, String word, String inTransaction) {
        this.weight = weight;
        this.word = word;
        this.inTransaction = inTransaction;
    }

    /** The word that ACL LOG uses. */
    public String word() {
        return word;
    }

    /** The error for a command that was permitted when it was queued, but is not at its execution. */
    public String inTransaction() {
        return inTransaction;
    }

    // --- packed into a long, so that a check allocates nothing

    /** The result of a check that denies nothing. */
    public static final long NONE = 0;

    /** Packs a denial with the number of the denied argument. */
    long at(int argument) {
        return (long) weight << Integer.SIZE | argument;
    }

    /** The reason in a check's result that is not {@link #NONE}. */
    public static Denial of(long verdict) {
        return switch ((int) (verdict >>> Integer.SIZE)) {
            case 1 -> COMMAND;
            case 2 -> KEY;
            case 3 -> AUTH;
            default -> CHANNEL;
        };
    }

    /** The number of the denied argument. */
    public static int argument(long verdict) {
        return (int) verdict;
    }
}
