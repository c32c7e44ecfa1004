package io.varve.server.acl;

/** An ACL rule is invalid. Immutable. */
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

    /** A parenthesis is not closed in the rule that begins with this word. */
    static RuleException unmatched(String start) {
        return new RuleException("Unmatched parenthesis in selector definition",
                "Unmatched parenthesis in acl selector starting at '" + shown(start) + "'.");
    }

    /** Adds the rule that this exception is about. A password is not repeated. */
    RuleException in(String rule) {
        String shown = rule.startsWith("<") || rule.startsWith(">") ? rule.charAt(0) + "(redacted)" : shown(rule);
        return new RuleException(reason(), "Error in ACL SETUSER modifier '" + shown + "': " + reason());
    }

    /** Text as Redis repeats input in messages: a NUL ends it. */
    public static String shown(String text) {
        int end = text.indexOf(0);
        return end < 0 ? text : text.substring(0, end);
    }

    /** The reason, in Redis's words, without the text of the rule. */
    public String reason() {
        return String.valueOf(getMessage());
    }

    /** The error reply of ACL SETUSER. */
    public String reply() {
        return reply;
    }
}
