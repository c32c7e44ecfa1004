package io.varve.server.command;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * A command as data: what COMMAND tells of it, and its handler. Immutable once built.
 *
 * <p>Keys stand at {@link #firstKey} to {@link #lastKey} (negative: counted from the end) in steps of {@link #keyStep};
 * 0 means none. A command with subcommands has no keys of its own.
 */
public final class CommandSpec {
    /** All ACL categories, in the order in which Redis tells those of a command. */
    private static final List<String> CATEGORY_ORDER = List.of("@keyspace", "@read", "@write", "@set", "@sortedset",
            "@list", "@hash", "@string", "@bitmap", "@hyperloglog", "@geo", "@stream", "@pubsub", "@admin", "@fast",
            "@slow", "@blocking", "@dangerous", "@connection", "@transaction", "@scripting");

    /** What is shown in place of an argument that {@link #isSecret}. */
    public static final String REDACTED = "(redacted)";

    private static final String CONNECTION = "@connection";
    private static final String PUBSUB = "pubsub";

    private final String name;
    private final @Nullable CommandSpec parent;
    private final int arity;
    private final EnumSet<CommandFlag> flags;
    private final int firstKey;
    private final int lastKey;
    private final int keyStep;
    private final List<KeyUse> keyUses;
    private final @Nullable KeyFinder keyFinder;
    private final List<String> categories;
    private final List<String> tips;
    private final String group;
    private final String since;
    private final String complexity;
    private final String summary;
    private final @Nullable Handler handler;
    private final Map<String, CommandSpec> subcommands;
    private final CommandSpec[] subcommandArray;
    private final boolean write;
    private final boolean denyOom;
    private final boolean plain;
    private final boolean sharesClock;
    private final boolean allOrNothing;
    private final boolean runsAtOnce;
    private final boolean waitsForFlash;
    private final boolean allowedWhileListening;
    private final boolean pushes;
    private final boolean publishes;
    private final boolean namesKeys;
    private final boolean worksOnKeys;
    private final boolean forDebugging;
    private final @Nullable UseNarrowing useNarrowing;
    private final @Nullable ChannelUse channelUse;
    private final @Nullable Secrets secrets;
    private final @Nullable OtherKeys otherKeys;
    private final byte[] nameBytes;
    /** Its place in the table's arrays of counters. */
    private int id = -1;

    private CommandSpec(Builder builder, @Nullable CommandSpec parent) {
        name = builder.name;
        this.parent = parent;
        arity = builder.arity;
        flags = builder.flags.clone();
        firstKey = builder.firstKey;
        lastKey = builder.lastKey;
        keyStep = builder.keyStep;
        keyUses = keyUsesOf(builder);
        keyFinder = builder.keyFinder;
        group = builder.group;
        since = builder.since;
        complexity = builder.complexity;
        summary = builder.summary;
        handler = builder.handler;
        tips = List.copyOf(builder.tips);
        categories = List.copyOf(categoriesOf(builder));
        Map<String, CommandSpec> children = new LinkedHashMap<>();
        for (Builder child : builder.subcommands) {
            children.put(child.name, new CommandSpec(child, this));
        }
        subcommands = Collections.unmodifiableMap(children);
        subcommandArray = children.values().toArray(new CommandSpec[0]);
        write = flags.contains(CommandFlag.WRITE);
        denyOom = flags.contains(CommandFlag.DENYOOM);
        forDebugging = builder.forDebugging;
        useNarrowing = builder.useNarrowing;
        channelUse = builder.channelUse;
        secrets = builder.secrets;
        plain = handler != null && parent == null && subcommandArray.length == 0
                && (write || flags.contains(CommandFlag.READONLY)) && !flags.contains(CommandFlag.BLOCKING)
                && !builder.forDebugging && !builder.publishes && !builder.runsAtOnce;
        otherKeys = builder.otherKeys;
        sharesClock = builder.sharesClock;
        allOrNothing = builder.allOrNothing;
        runsAtOnce = builder.runsAtOnce;
        waitsForFlash = builder.waitsForFlash;
        allowedWhileListening = builder.allowedWhileListening;
        pushes = builder.pushes;
        publishes = builder.publishes;
        namesKeys = keyFinder != null || firstKey > 0 && keyUses.stream().noneMatch(KeyUse::isOfNoKey);
        worksOnKeys = namesKeys || !group.equals(PUBSUB) && !categories.contains(CONNECTION);
        nameBytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        if (handler == null && subcommandArray.length == 0) {
            throw new IllegalStateException("The command " + name + " has neither a handler nor subcommands");
        }
    }

    /**
     * One use for all keys, or one for each key where the command does different things to them; the last of them is that
     * of all keys that follow.
     */
    private static List<KeyUse> keyUsesOf(Builder builder) {
        List<KeyUse> uses = new ArrayList<>();
        int count = builder.firstKey == 0 ? 0 : builder.access.size();
        for (int i = 0; i < count; i++) {
            int first = builder.firstKey + i * builder.keyStep;
            int last = i < count - 1 ? 0 : builder.lastKey < 0 ? builder.lastKey : builder.lastKey - first;
            uses.add(new KeyUse(first, last, builder.keyStep, false, List.of(builder.access.get(i).split(" "))));
        }
        uses.addAll(builder.behindWords);
        if (builder.numberOfKeysAt > 0) {
            uses.add(new KeyUse(builder.numberOfKeysAt, 0, 1, true, List.of(builder.countedAccess.split(" "))));
        }
        return List.copyOf(uses);
    }

    private static List<String> categoriesOf(Builder builder) {
        EnumSet<CommandFlag> flags = builder.flags;
        Set<String> all = new java.util.TreeSet<>(java.util.Comparator.comparingInt(CommandSpec::categoryRank));
        if (flags.contains(CommandFlag.WRITE)) {
            all.add("@write");
        }
        if (flags.contains(CommandFlag.READONLY)) {
            all.add("@read");
        }
        all.addAll(builder.categories);
        if (flags.contains(CommandFlag.ADMIN)) {
            all.add("@admin");
            all.add("@dangerous");
        }
        if (flags.contains(CommandFlag.PUBSUB)) {
            all.add("@pubsub");
        }
        all.add(flags.contains(CommandFlag.FAST) ? "@fast" : "@slow");
        if (flags.contains(CommandFlag.BLOCKING)) {
            all.add("@blocking");
        }
        return new ArrayList<>(all);
    }

    private static int categoryRank(String category) {
        int rank = CATEGORY_ORDER.indexOf(category);
        if (rank < 0) {
            throw new IllegalStateException("There is no ACL category " + category);
        }
        return rank;
    }

    /** Starts a description. The name is lower case. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** Lower case, without the parent's. */
    public String name() {
        return name;
    }

    /** {@code config|get} for a subcommand, else the name. */
    public String fullName() {
        return parent == null ? name : parent.name + "|" + name;
    }

    public @Nullable CommandSpec parent() {
        return parent;
    }

    /** How many arguments, the name (and the parent's) included; negative: at least so many. */
    public int arity() {
        return arity;
    }

    public boolean acceptsCount(int argumentCount) {
        return arity >= 0 ? argumentCount == arity : argumentCount >= -arity;
    }

    public Set<CommandFlag> flags() {
        return Collections.unmodifiableSet(flags);
    }

    public boolean has(CommandFlag flag) {
        return flags.contains(flag);
    }

    public boolean isWrite() {
        return write;
    }

    public boolean isDenyOom() {
        return denyOom;
    }

    /** Whether it runs only where {@code enable-debug-command} allows it. */
    public boolean isForDebugging() {
        return forDebugging;
    }

    /** Whether it reads or writes keys and does nothing else: of a client that has asked for nothing special it just runs. */
    public boolean isPlain() {
        return plain;
    }

    /** Whether it takes so short a time, always, that several of them share a reading of the clock. */
    public boolean sharesClock() {
        return sharesClock;
    }

    /** Whether it has changed nothing, for all of its keys, when it found no room. */
    public boolean isAllOrNothing() {
        return allOrNothing;
    }

    /** Whether it is not queued after MULTI. */
    public boolean runsAtOnce() {
        return runsAtOnce;
    }

    /** Whether it asks flash, if there is one, for more than the keys that it names: its client waits for that. */
    public boolean waitsForFlash() {
        return waitsForFlash;
    }

    /** Whether a client that listens, in RESP2, may send it. */
    public boolean isAllowedWhileListening() {
        return allowedWhileListening;
    }

    /** Whether its replies are pushes, which CLIENT REPLY does not leave out. */
    public boolean pushes() {
        return pushes;
    }

    /** Whether it leaves messages for others: it waits while too many are not delivered yet. */
    public boolean publishes() {
        return publishes;
    }

    /** Whether there are keys among its arguments: what stands at {@link #firstKey} may be another kind of name. */
    public boolean namesKeys() {
        return namesKeys;
    }

    /** Whether it may look at keys, be they named or not. */
    boolean worksOnKeys() {
        return worksOnKeys;
    }

    public int firstKey() {
        return firstKey;
    }

    public int lastKey() {
        return lastKey;
    }

    public int keyStep() {
        return keyStep;
    }

    /** What the command does to its keys; empty if it has none. */
    public List<KeyUse> keyUses() {
        return keyUses;
    }

    /** What these arguments do to the key among them, of all that {@link #keyUses} say a command may do. */
    public List<String> keyFlags(Arguments arguments, int index) {
        List<String> flags = List.of();
        for (KeyUse use : keyUses) {
            if (use.covers(index, arguments.argumentCount())) {
                flags = use.flags();
            }
        }
        if (!flags.contains(KeyUse.VARIABLE)) {
            return flags;
        }
        return java.util.Objects.requireNonNull(useNarrowing, fullName()).flags(arguments);
    }

    /** Which arguments are channels; null if none is. */
    @Nullable
    ChannelUse channelUse() {
        return channelUse;
    }

    /** Tells whether it looks at keys that it does not name; null if it never does. */
    public @Nullable OtherKeys otherKeys() {
        return otherKeys;
    }

    /** Whether an argument is to be shown to nobody: in the slow log, to monitors. */
    public boolean isSecret(Arguments arguments, int index) {
        return secrets != null && secrets.isSecret(arguments, index);
    }

    public @Nullable KeyFinder keyFinder() {
        return keyFinder;
    }

    public List<String> categories() {
        return categories;
    }

    public List<String> tips() {
        return tips;
    }

    public String group() {
        return group;
    }

    public String since() {
        return since;
    }

    public String complexity() {
        return complexity;
    }

    public String summary() {
        return summary;
    }

    /** Null for a command that exists only through its subcommands. */
    public @Nullable Handler handler() {
        return handler;
    }

    public Map<String, CommandSpec> subcommands() {
        return subcommands;
    }

    /** Whether it is a container of others. */
    public boolean hasSubcommands() {
        return subcommandArray.length > 0;
    }

    CommandSpec[] subcommandArray() {
        return subcommandArray;
    }

    byte[] nameBytes() {
        return nameBytes;
    }

    /** Its place in arrays of counters, from 0 to the number of {@link CommandTable#all}. */
    public int id() {
        return id;
    }

    void id(int value) {
        id = value;
    }

    @Override
    public String toString() {
        return fullName();
    }

    /** Tells what is done to the keys of a command where it depends on the arguments. Immutable. */
    @FunctionalInterface
    public interface UseNarrowing {
        List<String> flags(Arguments arguments);
    }

    /** Tells whether a command looks at keys that it does not name: all shards are locked for it. Immutable. */
    @FunctionalInterface
    public interface OtherKeys {
        boolean areUsed(Arguments arguments);
    }

    /** Tells which arguments are secrets. Immutable. */
    @FunctionalInterface
    public interface Secrets {
        boolean isSecret(Arguments arguments, int index);
    }

    /** Describes a command. Confined to the thread that builds the table. */
    public static final class Builder {
        private final String name;
        private int arity = -1;
        private final EnumSet<CommandFlag> flags = EnumSet.noneOf(CommandFlag.class);
        private int firstKey;
        private int lastKey;
        private int keyStep;
        private final List<String> access = new ArrayList<>();
        private int numberOfKeysAt;
        private final List<KeyUse> behindWords = new ArrayList<>();
        private String countedAccess = "";
        private @Nullable KeyFinder keyFinder;
        private boolean forDebugging;
        private @Nullable UseNarrowing useNarrowing;
        private @Nullable ChannelUse channelUse;
        private @Nullable Secrets secrets;
        private @Nullable OtherKeys otherKeys;
        private final List<String> categories = new ArrayList<>();
        private final List<String> tips = new ArrayList<>();
        private String group = "generic";
        private String since = "1.0.0";
        private String complexity = "O(1)";
        private String summary = "";
        private @Nullable Handler handler;
        private boolean sharesClock;
        private boolean allOrNothing;
        private boolean runsAtOnce;
        private boolean waitsForFlash;
        private boolean allowedWhileListening;
        private boolean pushes;
        private boolean publishes;
        private final List<Builder> subcommands = new ArrayList<>();

        private Builder(String name) {
            if (!name.equals(name.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException("A command's name is lower case: " + name);
            }
            this.name = name;
        }

        public Builder arity(int value) {
            arity = value;
            return this;
        }

        public Builder flags(CommandFlag... values) {
            Collections.addAll(flags, values);
            return this;
        }

        /** One key. */
        public Builder key(int index) {
            return keys(index, index, 1);
        }

        public Builder keys(int first, int last, int step) {
            firstKey = first;
            lastKey = last;
            keyStep = step;
            return this;
        }

        /**
         * What is done to the keys, in the words of COMMAND INFO, such as {@code RW access update}: once for all keys, or
         * once for each, the last time for all that follow.
         */
        public Builder access(String... uses) {
            access.clear();
            Collections.addAll(access, uses);
            return this;
        }

        /**
         * The keys, or those behind the ones that {@link #keys} tells, are as many as an argument says and follow it: to be
         * called after {@link #keys}.
         *
         * @param number the argument
         * @param use    what is done to them, see {@link #access}
         */
        public Builder countedKeys(int number, String use) {
            numberOfKeysAt = number;
            countedAccess = use;
            return keyFinder(KeyFinder.counted(number, firstKey == 0 ? 0 : lastKey));
        }

        /**
         * A key that follows a word among the options; a {@link #keyFinder} has to find it.
         *
         * @param from the first argument that may be the word
         * @param use  what is done to it, see {@link #access}
         */
        public Builder keyBehind(String word, int from, String use) {
            behindWords.add(new KeyUse(from, 0, 1, false, word, List.of(use.split(" "))));
            return this;
        }

        /**
         * Keys that are not told by their places: those that BY and GET of SORT lead to, or one behind a word that may stand anywhere.
         *
         * @param use what is done to them, see {@link #access}
         */
        public Builder unknownKeys(String use) {
            behindWords.add(KeyUse.unknown(List.of(use.split(" "))));
            return this;
        }

        /** It may look at keys that it does not name. */
        public Builder usesOtherKeys(OtherKeys value) {
            otherKeys = value;
            return this;
        }

        /** For {@link KeyUse#VARIABLE}: what a given command does to its keys. */
        public Builder narrowedAccess(UseNarrowing value) {
            useNarrowing = value;
            return this;
        }

        /** Arguments that are channels, which users' rules are asked about; the last may be counted from the end. */
        public Builder channels(int first, int last) {
            channelUse = new ChannelUse(first, last, false);
            return this;
        }

        /** The same for patterns of channels. */
        public Builder channelPatterns(int first, int last) {
            channelUse = new ChannelUse(first, last, true);
            return this;
        }

        /** Arguments that are shown to nobody. */
        public Builder secrets(Secrets value) {
            secrets = value;
            return this;
        }

        /** Runs only where {@code enable-debug-command} allows it. */
        public Builder forDebugging() {
            forDebugging = true;
            return this;
        }

        public Builder keyFinder(KeyFinder value) {
            keyFinder = value;
            flags.add(CommandFlag.MOVABLEKEYS);
            return this;
        }

        /** ACL categories beyond those that follow from the flags, such as {@code @string}. */
        public Builder categories(String... values) {
            Collections.addAll(categories, values);
            return this;
        }

        /** Command tips, such as {@code nondeterministic_output}. */
        public Builder tips(String... values) {
            Collections.addAll(tips, values);
            return this;
        }

        public Builder group(String value) {
            group = value;
            return this;
        }

        /** The version of Redis that brought it. */
        public Builder since(String value) {
            since = value;
            return this;
        }

        public Builder complexity(String value) {
            complexity = value;
            return this;
        }

        public Builder summary(String value) {
            summary = value;
            return this;
        }

        /** It looks at one key and a value of bounded length, and walks nothing: see {@code CommandTimes}. */
        public Builder sharesClock() {
            sharesClock = true;
            return this;
        }

        /** It has several keys, and has changed none of them when it finds no room: it may be run again. */
        public Builder allOrNothing() {
            allOrNothing = true;
            return this;
        }

        /** It is executed after MULTI too, not queued. */
        public Builder runsAtOnce() {
            runsAtOnce = true;
            return this;
        }

        /** It asks flash, if there is one, for more than the keys that it names. */
        public Builder waitsForFlash() {
            waitsForFlash = true;
            return this;
        }

        /** A client that listens, in RESP2, may send it. */
        public Builder allowedWhileListening() {
            allowedWhileListening = true;
            return this;
        }

        /** Its replies are pushes: CLIENT REPLY does not leave them out. */
        public Builder pushes() {
            pushes = true;
            return this;
        }

        /** It leaves messages for others. */
        public Builder publishes() {
            publishes = true;
            return this;
        }

        public Builder handler(Handler value) {
            handler = value;
            return this;
        }

        public Builder subcommand(Builder child) {
            subcommands.add(child);
            return this;
        }

        CommandSpec build() {
            return new CommandSpec(this, null);
        }
    }
}
