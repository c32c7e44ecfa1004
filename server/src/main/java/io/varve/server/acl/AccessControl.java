package io.varve.server.acl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;

import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.config.UserLine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of all users, and the log of denials. Many threads: lookups take no lock; changes are guarded by {@code
 * this}, and a reader never sees half of one.
 *
 * <p>Names are bytes in ISO 8859-1, and sort in that order.
 */
public final class AccessControl {
    /** The user of clients that have not authenticated. */
    public static final String DEFAULT = "default";
    private static final Logger LOG = LoggerFactory.getLogger(AccessControl.class);

    private final CommandNames names;
    private final GlobMatch glob;
    private final AclLog log = new AclLog();
    private final Map<String, Account> accounts = new ConcurrentSkipListMap<>();
    private final Account defaultAccount;
    private final User noRights;
    private volatile boolean channelsByDefault;

    private AccessControl(CommandNames names, GlobMatch glob, boolean channelsByDefault) {
        this.names = names;
        this.glob = glob;
        this.channelsByDefault = channelsByDefault;
        noRights = new UserDraft(names, glob, false).build();
        defaultAccount = new Account(DEFAULT, unrestricted());
        accounts.put(DEFAULT, defaultAccount);
    }

    /**
     * Creates the users of the configuration: those of its {@code user} lines or of its {@code aclfile}, and the
     * default user with its password.
     *
     * @throws ConfigException in one line that names the place and the problem, but no password
     */
    public static AccessControl open(CommandNames names, GlobMatch glob, ServerConfig config) {
        AccessControl control = new AccessControl(names, glob, channelsByDefault(config));
        control.defaultPassword(config.password());
        Path file = config.aclFile();
        if (file != null && !config.users().isEmpty()) {
            throw new ConfigException(
                    "aclfile " + file + ": define users either in this file or in the configuration file ("
                            + config.users().getFirst().where() + "), not in both");
        }
        for (UserLine line : config.users()) {
            control.add(line);
        }
        if (file != null) {
            List<String> errors = new ArrayList<>();
            Map<String, User> users = AclFile.read(file, control, errors);
            if (!errors.isEmpty()) {
                throw new ConfigException("aclfile " + file + ": " + String.join(" ", errors).strip());
            }
            control.replaceAll(users);
        }
        return control;
    }

    private static boolean channelsByDefault(ServerConfig config) {
        return config.text("acl-pubsub-default").equals("allchannels");
    }

    /** Applies changed settings. */
    public void reconfigure(ServerConfig before, ServerConfig now) {
        channelsByDefault = channelsByDefault(now);
        if (!before.password().equals(now.password())) {
            defaultPassword(now.password());
        }
        log.trim(now.number("acllog-max-len"));
    }

    private void add(UserLine line) {
        if (UserDraft.hasBlank(line.name())) {
            throw new ConfigException(line.where() + ": user: names cannot contain blanks");
        }
        boolean known = accounts.containsKey(line.name());
        if (known && !line.name().equals(DEFAULT)) {
            throw new ConfigException(line.where() + ": user " + line.name() + ": is defined twice");
        }
        try {
            UserDraft draft = newDraft();
            if (known) {
                draft.startFrom(defaultAccount.user());
                draft.apply("reset");
            }
            put(line.name(), build(draft, line.rules()));
        } catch (RuleException bad) {
            throw new ConfigException(line.where() + ": user " + line.name() + ": " + bad.reason());
        }
    }

    // --- lookup

    public Account defaultAccount() {
        return defaultAccount;
    }

    /** Null if there is none. */
    public @Nullable Account find(String name) {
        return accounts.get(name);
    }

    /** All accounts, sorted by name. */
    public Collection<Account> all() {
        return accounts.values();
    }

    /** {@code user NAME RULE…} of each user, sorted by name. */
    public List<String> lines() {
        return accounts.values().stream().map(AccessControl::line).toList();
    }

    /**
     * The configuration lines for these users. The default user's line is omitted while it contains no more than the
     * password.
     */
    public List<String> configurationLines(ServerConfig config) {
        List<String> lines = new ArrayList<>(lines());
        User asConfigured = withPassword(unrestricted(), config.password());
        if (asConfigured.describe().equals(defaultAccount.user().describe())) {
            lines.remove(line(defaultAccount));
        }
        return lines;
    }

    private static String line(Account account) {
        return "user " + account.name() + " " + account.user().describe();
    }

    public AclLog log() {
        return log;
    }

    /** The user's account if the password is right; null if it is wrong, or if the user is unknown or off. */
    public @Nullable Account authenticate(String name, byte[] password) {
        String hash = Passwords.hash(password);
        Account account = accounts.get(name);
        return account != null && account.user().isKnownBy(hash) && !account.isDeleted() ? account : null;
    }

    /** The full names of all commands in a category, whether or not this server implements them. */
    public List<String> commandsOf(String category) {
        return IntStream.range(0, names.count()).filter(command -> names.categories(command).contains(category))
                .mapToObj(names::name).toList();
    }

    // --- changes

    /**
     * Applies rules to a user, all of them or none; an unknown name creates a user without permissions first.
     *
     * @throws RuleException if one of them is invalid
     */
    public synchronized Account set(String name, List<String> rules) throws RuleException {
        Account account = accounts.get(name);
        UserDraft draft = newDraft();
        if (account != null) {
            draft.startFrom(account.user());
        }
        for (String rule : mergeGroups(rules)) {
            try {
                draft.apply(rule);
            } catch (RuleException bad) {
                throw bad.in(rule);
            }
        }
        return put(name, draft.build());
    }

    private Account put(String name, User user) {
        Account account = accounts.computeIfAbsent(name, fresh -> new Account(fresh, user));
        account.user(user);
        return account;
    }

    /** @return the deleted account; null if there was none */
    public synchronized @Nullable Account delete(String name) {
        Account account = accounts.remove(name);
        if (account != null) {
            account.delete(noRights);
        }
        return account;
    }

    /** Makes this the only password of the default user; if it is empty, no password is required. */
    private synchronized void defaultPassword(String password) {
        defaultAccount.user(withPassword(defaultAccount.user(), password));
    }

    private User withPassword(User user, String password) {
        UserDraft draft = newDraft();
        draft.startFrom(user);
        // Passwords arrive as bytes; a setting is their UTF-8 text.
        String bytes = new String(password.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return apply(draft, password.isEmpty() ? List.of("resetpass", "nopass") : List.of("resetpass", ">" + bytes));
    }

    private User unrestricted() {
        return apply(newDraft(), List.of("+@all", "~*", "&*", "on", "nopass"));
    }

    private static User apply(UserDraft draft, List<String> rules) {
        try {
            for (String rule : rules) {
                draft.apply(rule);
            }
        } catch (RuleException impossible) {
            throw new IllegalStateException(impossible);
        }
        return draft.build();
    }

    UserDraft newDraft() {
        return new UserDraft(names, glob, channelsByDefault);
    }

    private static User build(UserDraft draft, List<String> rules) throws RuleException {
        for (String rule : mergeGroups(rules)) {
            draft.apply(rule);
        }
        return draft.build();
    }

    // --- the file

    /**
     * ACL LOAD: replaces the users by those of the file, or changes nothing if the file has an error.
     *
     * @param errors receives the errors
     * @return the deleted accounts: those of all earlier users except the default one
     */
    public synchronized List<Account> load(Path file, List<String> errors) {
        Map<String, User> users = AclFile.read(file, this, errors);
        return errors.isEmpty() ? replaceAll(users) : List.of();
    }

    private synchronized List<Account> replaceAll(Map<String, User> users) {
        List<Account> gone = new ArrayList<>();
        for (Account account : List.copyOf(accounts.values())) {
            if (account != defaultAccount) {
                accounts.remove(account.name());
                account.delete(noRights);
                gone.add(account);
            }
        }
        defaultAccount.user(users.getOrDefault(DEFAULT, unrestricted()));
        users.forEach((name, user) -> {
            Account account = name.equals(DEFAULT) ? defaultAccount : new Account(name, user);
            accounts.put(name, account);
            if (!user.isOn()) {
                LOG.info("User {} is disabled", account.text());
            }
        });
        return gone;
    }

    /** ACL SAVE. @throws IOException if it cannot be written; the old file is then unchanged */
    public synchronized void save(Path file) throws IOException {
        AclFile.write(file, lines());
    }

    // --- rules in several words

    /**
     * Joins the words of rules in parentheses that arrived as several words.
     *
     * @throws RuleException if a parenthesis is not closed
     */
    static List<String> mergeGroups(List<String> rules) throws RuleException {
        List<String> merged = new ArrayList<>();
        StringBuilder open = null;
        String start = "";
        for (String rule : rules) {
            if (rule.startsWith("(") && !rule.endsWith(")")) {
                open = new StringBuilder(rule);
                start = rule;
            } else if (open == null) {
                merged.add(rule);
            } else {
                // As in Redis, where a NUL ends the text.
                open.append(' ').append(RuleException.shown(rule));
                if (rule.endsWith(")")) {
                    merged.add(open.toString());
                    open = null;
                }
            }
        }
        if (open != null) {
            throw RuleException.unmatched(start);
        }
        return merged;
    }
}
