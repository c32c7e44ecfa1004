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
    private final boolean sharesClock;
    private final boolean allOrNothing;
    private final boolean runsAtOnce;
    private final boolean waitsForFlash;
    private final boolean forDebugging;
    private final @Nullable UseNarrowing useNarrowing;
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
        sharesClock = builder.sharesClock;
        allOrNothing = builder.allOrNothing;
        runsAtOnce = builder.runsAtOnce;
        waitsForFlash = builder.waitsForFlash;
        nameBytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        if (handler == null && subcommandArray.length == 0) {
            throw new IllegalStateException("The command " + name + " has neither a handler nor subcommands");
        }
    }

    /** One use for all keys, or one for each key where the command does different things to them. */
    private static List<KeyUse> keyUsesOf(Builder builder) {
        if (builder.firstKey == 0) {
            return List.of();
        }
        List<KeyUse> uses = new ArrayList<>();
        int count = builder.access.size();
        int toEnd = builder.lastKey < 0 ? builder.lastKey : builder.lastKey - builder.firstKey;
        for (int i = 0; i < count; i++) {
            uses.add(new KeyUse(builder.firstKey + i * builder.keyStep, count == 1 ? toEnd : 0, builder.keyStep,
                    List.of(builder.access.get(i).split(" "))));
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
    boolean isForDebugging() {
        return forDebugging;
    }

    /** Whether it takes so short a time, always, that several of them share a reading of the clock. */
    boolean sharesClock() {
        return sharesClock;
    }

    /** Whether it has changed nothing, for all of its keys, when it found no room. */
    boolean isAllOrNothing() {
        return allOrNothing;
    }

    /** Whether it is not queued after MULTI. */
    boolean runsAtOnce() {
        return runsAtOnce;
    }

    /** Whether it asks flash, if there is one, for more than the keys that it names: its client waits for that. */
    boolean waitsForFlash() {
        return waitsForFlash;
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
    List<String> keyFlags(Arguments arguments, int index) {
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

    boolean hasSubcommands() {
        return subcommandArray.length > 0;
    }

    CommandSpec[] subcommandArray() {
        return subcommandArray;
    }

    byte[] nameBytes() {
        return nameBytes;
    }

    int id() {
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
    interface UseNarrowing {
        List<String> flags(Arguments arguments);
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
        private @Nullable KeyFinder keyFinder;
        private boolean forDebugging;
        private @Nullable UseNarrowing useNarrowing;
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
         * once for each.
         */
        public Builder access(String... uses) {
            access.clear();
            Collections.addAll(access, uses);
            return this;
        }

        /** For {@link KeyUse#VARIABLE}: what a given command does to its keys. */
        Builder narrowedAccess(UseNarrowing value) {
            useNarrowing = value;
            return this;
        }

        /** Runs only where {@code enable-debug-command} allows it. */
        Builder forDebugging() {
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

        /** It looks at one key and a value of bounded length, and walks nothing: see {@link CommandTimes}. */
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
        Builder runsAtOnce() {
            runsAtOnce = true;
            return this;
        }

        /** It asks flash, if there is one, for more than the keys that it names. */
        Builder waitsForFlash() {
            waitsForFlash = true;
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
