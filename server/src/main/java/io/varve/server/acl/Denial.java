package io.varve.server.acl;

/**
 * Why something is not allowed. Immutable. Where the parts of a user's rules deny for different reasons, the weightiest
 * is told.
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

    /** As ACL LOG calls it. */
    public String word() {
        return word;
    }

    /** What a queued command is told that was still allowed when it was queued. */
    public String inTransaction() {
        return inTransaction;
    }

    // --- packed into a long, so that a check allocates nothing

    /** What a check answers that denies nothing. */
    public static final long NONE = 0;

    /** A denial and the argument that it is about. */
    long at(int argument) {
        return (long) weight << Integer.SIZE | argument;
    }

    /** The reason in what a check answered, which is not {@link #NONE}. */
    public static Denial of(long verdict) {
        return switch ((int) (verdict >>> Integer.SIZE)) {
            case 1 -> COMMAND;
            case 2 -> KEY;
            case 3 -> AUTH;
            default -> CHANNEL;
        };
    }

    /** The number of the argument that a denial is about. */
    public static int argument(long verdict) {
        return (int) verdict;
    }
}
