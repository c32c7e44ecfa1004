package io.varve.server.acl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What a user may do, and by which passwords they are known. Immutable: changed rules make another. */
public final class User {
    /** What is said of RESTORE's payloads; without effect, as they are always looked at. */
    enum Sanitize {
        UNSAID, SKIP, DO
    }

    private final boolean on;
    private final boolean noPassword;
    private final Sanitize sanitize;
    private final List<String> passwordHashes;
    /** The root selector is the first. */
    private final List<Selector> selectors;
    private final boolean unrestricted;

    User(boolean on, boolean noPassword, Sanitize sanitize, List<String> passwordHashes, List<Selector> selectors) {
        this.on = on;
        this.noPassword = noPassword;
        this.sanitize = sanitize;
        this.passwordHashes = List.copyOf(passwordHashes);
        this.selectors = List.copyOf(selectors);
        unrestricted = selectors.getFirst().isUnrestricted();
    }

    /** Whether everything is allowed: then nothing needs to be checked. */
    public boolean isUnrestricted() {
        return unrestricted;
    }

    boolean isOn() {
        return on;
    }

    /** Whether any password is right. */
    public boolean needsNoPassword() {
        return noPassword;
    }

    Sanitize sanitize() {
        return sanitize;
    }

    /** Whether one who says nothing of who they are is this user, if it is the default one. */
    public boolean admitsAnyone() {
        return on && noPassword;
    }

    /** @param hash of the password that was given */
    boolean isKnownBy(String hash) {
        return on && (noPassword || Passwords.isAmong(hash, passwordHashes));
    }

    // --- checks

    /** @return {@link Denial#NONE}, or what is denied; where selectors deny for several reasons, the weightiest */
    public long check(AccessRequest request) {
        if (unrestricted) {
            return Denial.NONE;
        }
        long told = Denial.COMMAND.at(0);
        for (int i = 0; i < selectors.size(); i++) {
            long verdict = selectors.get(i).check(request);
            if (verdict == Denial.NONE) {
                return Denial.NONE;
            }
            told = Math.max(told, verdict);
        }
        return told;
    }

    /**
     * Whether the command may access keys that it does not name, such as those that SORT's BY and GET lead to.
     *
     * @param access {@link AccessRequest#READ} and {@link AccessRequest#WRITE}
     */
    public boolean permitsAllKeys(AccessRequest request, int access) {
        for (Selector selector : selectors) {
            if (selector.permitsCommand(request) && selector.permitsAllKeys(access)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a channel may be used.
     *
     * @param pattern whether it is a pattern of channels, which has to be one of the user's rules, letter for letter
     */
    public boolean permitsChannel(long address, int length, boolean pattern) {
        for (Selector selector : selectors) {
            if (selector.permitsChannel(address, length, pattern)) {
                return true;
            }
        }
        return false;
    }

    // --- how it is told

    /** {@code on}, {@code nopass} and the like. */
    public List<String> flags() {
        List<String> flags = new ArrayList<>();
        flags.add(on ? "on" : "off");
        if (noPassword) {
            flags.add("nopass");
        }
        switch (sanitize) {
            case SKIP -> flags.add("skip-sanitize-payload");
            case DO -> flags.add("sanitize-payload");
            case UNSAID -> {
            }
        }
        return flags;
    }

    /** SHA-256 in hexadecimal digits. */
    public List<String> passwordHashes() {
        return passwordHashes;
    }

    /** What the user may do, beside {@link #groups}. */
    public Selector root() {
        return selectors.getFirst();
    }

    /** The selectors that were given in parentheses. */
    public List<Selector> groups() {
        return selectors.subList(1, selectors.size());
    }

    /** All of it as rules that make the same user, separated by blanks. */
    public String describe() {
        List<String> parts = new ArrayList<>(flags());
        passwordHashes.forEach(hash -> parts.add("#" + hash));
        parts.add(root().describe());
        groups().forEach(group -> parts.add("(" + quoted(group.describe()) + ")"));
        return parts.stream().collect(Collectors.joining(" "));
    }

    /**
     * The words of a group. They are split at blanks with a view to quotes, and the first that ends in a parenthesis ends it: a word of which
     * that would make another is put in quotes, which Redis leaves out, and then reads as something else.
     */
    private static String quoted(String rules) {
        return Arrays.stream(rules.split(" ")).map(User::quotedWord).collect(Collectors.joining(" "));
    }

    private static String quotedWord(String word) {
        if (word.indexOf('"') < 0 && word.indexOf('\'') < 0 && !word.endsWith(")")) {
            return word;
        }
        return '"' + word.replace("\\", "\\\\").replace("\"", "\\\"").replace(")", "\\x29") + '"';
    }
}
