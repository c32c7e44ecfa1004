package io.varve.server.command;

import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
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
    private final boolean keysInTurn;
    private final boolean runsAtOnce;
    private final boolean waitsForFlash;
    private final boolean allowedWhileListening;
    private final boolean pushes;
    private final boolean publishes;
    private final int timeoutArgument;
    private final boolean namesKeys;
    private final boolean worksOnKeys;
    private final boolean forDebugging;
    private final @Nullable UseNarrowing useNarrowing;
    private final @Nullable ChannelUse channelUse;
    private final @Nullable Secrets secrets;
    private final @Nullable OtherKeys otherKeys;
    private final @Nullable TargetDatabase targetDatabase;
    private final boolean looksAtAllKeys;
    private final boolean changesAllKeys;
    private final byte[] nameBytes;
    /** Its place in the table's arrays of counters. */
    private int id = -1;

    CommandSpec(CommandBuilder builder, @Nullable CommandSpec parent) {
        name = builder.name;
        this.parent = parent;
        arity = builder.arity;
        flags = builder.flags.clone();
        firstKey = builder.firstKey;
        lastKey = builder.lastKey;
        keyStep = builder.keyStep;
        keyUses = builder.keyUses();
        keyFinder = builder.keyFinder;
        group = builder.group;
        since = builder.since;
        complexity = builder.complexity;
        summary = builder.summary;
        handler = builder.handler;
        tips = List.copyOf(builder.tips);
        categories = AclCategories.of(flags, builder.categories);
        Map<String, CommandSpec> children = new LinkedHashMap<>();
        for (CommandBuilder child : builder.subcommands) {
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
        targetDatabase = builder.targetDatabase;
        looksAtAllKeys = builder.looksAtAllKeys;
        changesAllKeys = builder.changesAllKeys;
        sharesClock = builder.sharesClock;
        allOrNothing = builder.allOrNothing;
        keysInTurn = builder.keysInTurn;
        runsAtOnce = builder.runsAtOnce;
        waitsForFlash = builder.waitsForFlash;
        allowedWhileListening = builder.allowedWhileListening;
        pushes = builder.pushes;
        publishes = builder.publishes;
        timeoutArgument = builder.timeoutArgument;
        namesKeys = keyFinder != null || firstKey > 0 && keyUses.stream().noneMatch(KeyUse::isOfNoKey);
        worksOnKeys = namesKeys || !group.equals(PUBSUB) && !categories.contains(CONNECTION);
        nameBytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        if (handler == null && subcommandArray.length == 0) {
            throw new IllegalStateException("The command " + name + " has neither a handler nor subcommands");
        }
    }

    /** Starts a description. The name is lower case. */
    public static CommandBuilder named(String name) {
        return new CommandBuilder(name);
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

    /** Whether its handler holds one key at a time. */
    boolean takesKeysInTurn() {
        return keysInTurn;
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

    /** Whether it may wait for its keys ({@link Blocking}). */
    public boolean waitsForKeys() {
        return timeoutArgument != 0;
    }

    /** Which of so many arguments tells how long it waits for its keys. */
    int timeoutArgument(int argumentCount) {
        return timeoutArgument < 0 ? argumentCount + timeoutArgument : timeoutArgument;
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

    /** Tells where it puts the last key that it names; null if that is always the client's database. */
    public @Nullable TargetDatabase targetDatabase() {
        return targetDatabase;
    }

    /** Whether it looks at whatever keys there are, and names none. */
    public boolean looksAtAllKeys() {
        return looksAtAllKeys;
    }

    /** Whether it changes whatever keys there are, and names none. */
    public boolean changesAllKeys() {
        return changesAllKeys;
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

    /** Tells into which database a command puts the last key that it names. Immutable. */
    @FunctionalInterface
    public interface TargetDatabase {
        /**
         * @param count how many databases there are
         * @return -1 if it says none
         */
        int of(Arguments arguments, int count);
    }

    /** Tells which arguments are secrets. Immutable. */
    @FunctionalInterface
    public interface Secrets {
        boolean isSecret(Arguments arguments, int index);
    }
}
