package io.varve.server.acl;

/** A rule that cannot be. Immutable. */
public final class RuleException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reply;

    RuleException(String reason) {
        this(reason, reason);
    }

    private RuleException(String reason, String reply) {
        super(reason, null, false, false);
        this.reply = reply;
    }

    /** A parenthesis is not closed in what begins with this word. */
    static RuleException unmatched(String start) {
        return new RuleException("Unmatched parenthesis in selector definition",
                "Unmatched parenthesis in acl selector starting at '" + shown(start) + "'.");
    }

    /** The same, which is known to be about this rule. A password is not repeated. */
    RuleException in(String rule) {
        String shown = rule.startsWith("<") || rule.startsWith(">") ? rule.charAt(0) + "(redacted)" : shown(rule);
        return new RuleException(reason(), "Error in ACL SETUSER modifier '" + shown + "': " + reason());
    }

    /** As Redis repeats in messages what it was sent: a NUL ends it. */
    public static String shown(String text) {
        int end = text.indexOf(0);
        return end < 0 ? text : text.substring(0, end);
    }

    /** Why, in Redis's words, and nothing of what the rule said. */
    public String reason() {
        return String.valueOf(getMessage());
    }

    /** What ACL SETUSER answers. */
    public String reply() {
        return reply;
    }
}
