package io.varve.server.acl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.server.config.ConfigReader;

/** A selector under construction, to which rules are applied. Confined to the thread that applies them. */
final class SelectorDraft {
    private static final String UNKNOWN = "Unknown command or category name in ACL";
    static final String SYNTAX = "Syntax error";

    private final CommandNames names;
    private boolean allCommands;
    private boolean allKeys;
    private boolean allChannels;
    /** Whether commands of later versions are permitted: the result of the last rule about all commands. */
    private boolean futureCommands;
    private long[] commands;
    private Map<Integer, List<String>> firstArguments = new HashMap<>();
    private final List<Pattern> keys = new ArrayList<>();
    private final List<Pattern> channels = new ArrayList<>();
    /** The rules about commands since the last one about all commands, each once. */
    private final List<String> commandRules = new ArrayList<>();

    SelectorDraft(CommandNames names, boolean allChannels) {
        this.names = names;
        this.allChannels = allChannels;
        commands = new long[(names.count() + Long.SIZE - 1) / Long.SIZE];
    }

    /** Copies a selector. */
    SelectorDraft(CommandNames names, Selector from) {
        this.names = names;
        allCommands = from.allCommands();
        allKeys = from.allKeys();
        allChannels = from.allChannels();
        commands = from.commands().clone();
        from.firstArguments().forEach((command, words) -> firstArguments.put(command, new ArrayList<>(words)));
        keys.addAll(from.keys());
        channels.addAll(from.channels());
        futureCommands = from.futureCommands();
        commandRules.addAll(from.commandRuleList());
    }

    /** Parses a rule in parentheses. */
    static SelectorDraft ofGroup(String rule, CommandNames names, boolean allChannels) throws RuleException {
        SelectorDraft draft = new SelectorDraft(names, allChannels);
        List<String> words = ConfigReader.split(rule.substring(1, rule.length() - 1));
        // As in Redis, unclosed quotes make a selector without permissions.
        for (String word : words == null ? List.<String>of() : words) {
            draft.apply(word);
        }
        return draft;
    }

    boolean allCommands() {
        return allCommands;
    }

    boolean allKeys() {
        return allKeys;
    }

    boolean allChannels() {
        return allChannels;
    }

    long[] commands() {
        return commands;
    }

    Map<Integer, List<String>> firstArguments() {
        Map<Integer, List<String>> copy = new HashMap<>();
        firstArguments.forEach((command, words) -> copy.put(command, List.copyOf(words)));
        return Map.copyOf(copy);
    }

    List<Pattern> keys() {
        return keys;
    }

    List<Pattern> channels() {
        return channels;
    }

    boolean futureCommands() {
        return futureCommands;
    }

    List<String> commandRuleList() {
        return commandRules;
    }

    static boolean isSet(long[] bits, int index) {
        return (bits[index >>> 6] & 1L << index) != 0;
    }

    // --- rules

    void apply(String rule) throws RuleException {
        switch (rule.toLowerCase(Locale.ROOT)) {
            case "allkeys", "~*" -> {
                allKeys = true;
                keys.clear();
            }
            case "resetkeys" -> {
                allKeys = false;
                keys.clear();
            }
            case "allchannels", "&*" -> {
                allChannels = true;
                channels.clear();
            }
            case "resetchannels" -> {
                allChannels = false;
                channels.clear();
            }
            case "allcommands", "+@all" -> allCommands(true);
            case "nocommands", "-@all" -> allCommands(false);
            default -> applyOther(rule);
        }
    }

    private void applyOther(String rule) throws RuleException {
        char kind = rule.isEmpty() ? 0 : rule.charAt(0);
        switch (kind) {
            case '~' -> addKeys(rule.substring(1), true, true);
            case '%' -> addKeysByPermission(rule);
            case '&' -> addChannels(rule.substring(1));
            case '+', '-' -> {
                if (rule.startsWith("@", 1)) {
                    category(rule.substring(2), kind == '+');
                } else if (kind == '+' && rule.indexOf('|') >= 0) {
                    allowPart(rule.substring(1));
                } else {
                    command(find(rule.substring(1)), rule.substring(1), kind == '+');
                }
            }
            default -> throw new RuleException(SYNTAX);
        }
    }

    private void allCommands(boolean allowed) {
        Arrays.fill(commands, allowed ? -1L : 0);
        allCommands = allowed;
        futureCommands = allowed;
        firstArguments = new HashMap<>();
        commandRules.clear();
    }

    // --- keys and channels

    private void addKeysByPermission(String rule) throws RuleException {
        boolean read = false;
        boolean write = false;
        int i = 1;
        for (; i < rule.length() && rule.charAt(i) != '~'; i++) {
            char permission = Character.toUpperCase(rule.charAt(i));
            if (permission == 'R' && !read) {
                read = true;
            } else if (permission == 'W' && !write) {
                write = true;
            } else {
                throwIfStar();
                throw new RuleException(SYNTAX);
            }
        }
        if (!read && !write) {
            // A pattern without permissions crashes Redis 7.0 when it formats the rule; later versions reject it.
            throwIfStar();
            throw new RuleException(SYNTAX);
        }
        addKeys(rule.substring(Math.min(i + 1, rule.length())), read, write);
    }

    private void throwIfStar() throws RuleException {
        if (allKeys) {
            throw new RuleException("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does"
                    + " not have any effect. Try 'resetkeys' to start with an empty list of patterns");
        }
    }

    private void addKeys(String pattern, boolean read, boolean write) throws RuleException {
        throwIfStar();
        throwIfBlank(pattern);
        for (int i = 0; i < keys.size(); i++) {
            Pattern known = keys.get(i);
            if (known.text().equals(pattern)) {
                keys.set(i, Pattern.ofKeys(pattern, read || known.read(), write || known.write()));
                return;
            }
        }
        keys.add(Pattern.ofKeys(pattern, read, write));
    }

    private void addChannels(String pattern) throws RuleException {
        if (allChannels) {
            throw new RuleException("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and"
                    + " does not have any effect. Try 'resetchannels' to start with an empty list of channels");
        }
        throwIfBlank(pattern);
        if (channels.stream().noneMatch(known -> known.text().equals(pattern))) {
            channels.add(Pattern.ofChannels(pattern));
        }
    }

    private static void throwIfBlank(String pattern) throws RuleException {
        if (UserDraft.hasBlank(pattern)) {
            throw new RuleException(SYNTAX);
        }
    }

    // --- commands

    private int find(String name) throws RuleException {
        int command = names.find(name);
        if (command < 0) {
            throw new RuleException(UNKNOWN);
        }
        return command;
    }

    private void command(int command, String name, boolean allowed) {
        set(command, allowed);
        addRule(name.toLowerCase(Locale.ROOT), name.toLowerCase(Locale.ROOT), allowed);
    }

    /** Sets a command with all of its subcommands. */
    private void set(int command, boolean allowed) {
        setBit(command, allowed);
        firstArguments.remove(command);
        for (int child : names.subcommands(command)) {
            setBit(child, allowed);
        }
    }

    private void setBit(int command, boolean allowed) {
        long bit = 1L << command;
        if (allowed) {
            commands[command >>> 6] |= bit;
        } else {
            commands[command >>> 6] &= ~bit;
            allCommands = false;
        }
    }

    private void category(String name, boolean allowed) throws RuleException {
        String category = name.toLowerCase(Locale.ROOT);
        if (!Category.exists(category)) {
            throw new RuleException(UNKNOWN);
        }
        for (int command = 0; command < names.count(); command++) {
            if (names.categories(command).contains(category)) {
                set(command, allowed);
            }
        }
        addRule("@" + category, "@" + category, allowed);
    }

    /**
     * Permits {@code config|get}, or {@code select|0}: a subcommand, or a first argument of a command without
     * subcommands.
     */
    private void allowPart(String rule) throws RuleException {
        int bar = rule.lastIndexOf('|');
        int command = find(rule.substring(0, bar));
        if (names.isSubcommand(command)) {
            throw new RuleException("Allowing first-arg of a subcommand is not supported");
        }
        String part = rule.substring(bar + 1);
        if (part.isEmpty()) {
            throw new RuleException(SYNTAX);
        }
        // Redis accepts it, and cannot parse its own output of it.
        throwIfBlank(part);
        if (names.subcommands(command).length > 0) {
            command(find(rule), rule, true);
            return;
        }
        List<String> words = firstArguments.computeIfAbsent(command, _ -> new ArrayList<>());
        if (words.stream().noneMatch(part::equalsIgnoreCase)) {
            words.add(part);
            addRule(rule.toLowerCase(Locale.ROOT), rule.substring(0, bar).toLowerCase(Locale.ROOT) + "|" + part, true);
        }
    }

    /**
     * Records a rule, and removes earlier rules about this subject or a part of it.
     *
     * @param subject in lower case
     */
    private void addRule(String subject, String ruleName, boolean allowed) {
        commandRules.removeIf(rule -> {
            String earlier = rule.substring(1).toLowerCase(Locale.ROOT);
            return earlier.equals(subject) || earlier.startsWith(subject + "|");
        });
        commandRules.add((allowed ? "+" : "-") + ruleName);
    }
}
