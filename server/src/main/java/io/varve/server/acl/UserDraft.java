package io.varve.server.acl;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.server.acl.User.Sanitize;

/** A user under construction, to whom rules are applied. Confined to the thread that applies them. */
final class UserDraft {
    private final CommandNames names;
    private final GlobMatch glob;
    /** Whether a new selector allows all channels: {@code acl-pubsub-default}. */
    private final boolean channelsByDefault;
    private boolean on;
    private boolean noPassword;
    private Sanitize sanitize = Sanitize.UNSAID;
    private final List<String> passwordHashes = new ArrayList<>();
    private SelectorDraft root;
    private final List<Selector> groups = new ArrayList<>();

    /** Creates a user without permissions. */
    UserDraft(CommandNames names, GlobMatch glob, boolean channelsByDefault) {
        this.names = names;
        this.glob = glob;
        this.channelsByDefault = channelsByDefault;
        root = new SelectorDraft(names, channelsByDefault);
    }

    /** Copies a user. */
    void startFrom(User user) {
        on = user.isOn();
        noPassword = user.needsNoPassword();
        sanitize = user.sanitize();
        passwordHashes.clear();
        passwordHashes.addAll(user.passwordHashes());
        root = new SelectorDraft(names, user.root());
        groups.clear();
        groups.addAll(user.groups());
    }

    User build() {
        List<Selector> selectors = new ArrayList<>();
        selectors.add(new Selector(root, glob));
        selectors.addAll(groups);
        return new User(on, noPassword, sanitize, passwordHashes, selectors);
    }

    /** Whether there is a blank or a NUL, which neither names nor patterns may contain. */
    static boolean hasBlank(String text) {
        return text.chars().anyMatch(c -> c == ' ' || c >= '\t' && c <= '\r' || c == 0);
    }

    /** Applies one rule. After an exception the draft must not be used. */
    void apply(String rule) throws RuleException {
        switch (rule.toLowerCase(Locale.ROOT)) {
            case "" -> {
            }
            case "on" -> on = true;
            case "off" -> on = false;
            case "skip-sanitize-payload" -> sanitize = Sanitize.SKIP;
            case "sanitize-payload" -> sanitize = Sanitize.DO;
            case "nopass" -> {
                noPassword = true;
                passwordHashes.clear();
            }
            case "resetpass" -> resetPasswords();
            case "clearselectors" -> groups.clear();
            case "reset" -> {
                resetPasswords();
                on = false;
                sanitize = Sanitize.DO;
                groups.clear();
                root = new SelectorDraft(names, channelsByDefault);
            }
            default -> applyOther(rule);
        }
    }

    private void resetPasswords() {
        noPassword = false;
        passwordHashes.clear();
    }

    private void applyOther(String rule) throws RuleException {
        switch (rule.charAt(0)) {
            case '>', '#' -> {
                String hash = hashOf(rule, '>');
                if (!passwordHashes.contains(hash)) {
                    passwordHashes.add(hash);
                }
                noPassword = false;
            }
            case '<', '!' -> {
                if (!passwordHashes.remove(hashOf(rule, '<'))) {
                    throw new RuleException("The password you are trying to remove from the user does not exist");
                }
            }
            case '(' -> {
                if (!rule.endsWith(")")) {
                    throw new RuleException(SelectorDraft.SYNTAX);
                }
                groups.add(new Selector(SelectorDraft.ofGroup(rule, names, channelsByDefault), glob));
            }
            default -> root.apply(rule);
        }
    }

    private static String hashOf(String rule, char plain) throws RuleException {
        String secret = rule.substring(1);
        if (rule.charAt(0) == plain) {
            return Passwords.hash(secret.getBytes(StandardCharsets.ISO_8859_1));
        }
        if (!Passwords.isHash(secret)) {
            throw new RuleException("The password hash must be exactly 64 characters and contain only lowercase"
                    + " hexadecimal characters");
        }
        return secret;
    }
}
