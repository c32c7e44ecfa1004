package io.varve.server.acl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The permissions and password hashes of a user. Immutable: a change of rules creates another instance. */
public final class User {
    /** The rule about RESTORE's payloads; without effect, as they are always checked. */
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

    /** Whether everything is permitted, so that no check is needed. */
    public boolean isUnrestricted() {
        return unrestricted;
    }

    boolean isOn() {
        return on;
    }

    /** Whether any password is accepted. */
    public boolean needsNoPassword() {
        return noPassword;
    }

    Sanitize sanitize() {
        return sanitize;
    }

    /** Whether clients are this user without authentication, if it is the default user. */
    public boolean needsNoLogin() {
        return on && noPassword;
    }

    /** @param hash the hash of the given password */
    boolean isKnownBy(String hash) {
        return on && (noPassword || Passwords.isAmong(hash, passwordHashes));
    }

    // --- checks

    /**
     * @return {@link Denial#NONE}, or the denial; if selectors deny for several reasons, the one with the highest
     *     weight
     */
    public long check(AccessRequest request) {
        if (unrestricted) {
            return Denial.NONE;
        }
        long verdictSoFar = Denial.COMMAND.at(0);
        for (int i = 0; i < selectors.size(); i++) {
            long verdict = selectors.get(i).check(request);
            if (verdict == Denial.NONE) {
                return Denial.NONE;
            }
            verdictSoFar = Math.max(verdictSoFar, verdict);
        }
        return verdictSoFar;
    }

    /**
     * Whether the command may access keys that it does not name, such as those that SORT's BY and GET refer to.
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
     * @param pattern whether it is a channel pattern, which must equal one of the user's rules byte for byte
     */
    public boolean permitsChannel(long address, int length, boolean pattern) {
        for (Selector selector : selectors) {
            if (selector.permitsChannel(address, length, pattern)) {
                return true;
            }
        }
        return false;
    }

    // --- formatting

    /** The flags, such as {@code on} and {@code nopass}. */
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

    /** The user's root selector, beside {@link #groups}. */
    public Selector root() {
        return selectors.getFirst();
    }

    /** The selectors in parentheses. */
    public List<Selector> groups() {
        return selectors.subList(1, selectors.size());
    }

    /** All rules, separated by blanks; they recreate this user. */
    public String describe() {
        List<String> parts = new ArrayList<>(flags());
        passwordHashes.forEach(hash -> parts.add("#" + hash));
        parts.add(root().describe());
        groups().forEach(group -> parts.add("(" + quoted(group.describe()) + ")"));
        return parts.stream().collect(Collectors.joining(" "));
    }

    /**
     * Quotes the words of a group. A parser splits a group at blanks outside quotes, and the first word that ends in a
     * parenthesis ends it. So a word that would change the parse is quoted. Redis omits these quotes, and then parses
     * something else.
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
