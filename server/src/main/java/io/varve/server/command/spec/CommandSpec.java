package io.varve.server.command.spec;

import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * A command as data: its COMMAND metadata, and what the dispatcher has to know. Immutable once built.
 *
 * <p>Its keys are the arguments from {@link #firstKey} to {@link #lastKey} (negative: counted from the end) in steps of
 * {@link #keyStep}; 0 means none. A command with subcommands has no keys of its own.
 */
public final class CommandSpec {
    /** Shown in place of an argument that {@link #isSecret}. */
    public static final String REDACTED = "(redacted)";

    private static final String CONNECTION = "@connection";
    private static final String PUBSUB = "pubsub";
    private static final Set<String> COLLECTIONS = Set.of("hash", "list", "set", "sorted-set");
    private static final int MAX_CLOCK_ARGUMENTS = 8;

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
    private final boolean runnable;
    private final EnumSet<CommandTrait> traits;
    private final Map<String, CommandSpec> subcommands;
    private final CommandSpec[] subcommandArray;
    private final boolean write;
    private final boolean denyOom;
    private final boolean plain;
    private final int timeoutArgument;
    private final @Nullable TimeoutFinder timeoutFinder;
    private final int clockArguments;
    private final boolean readsOptimistically;
    private final boolean allOrNothing;
    private final boolean namesKeys;
    private final boolean worksOnKeys;
    private final @Nullable UseNarrowing useNarrowing;
    private final @Nullable ChannelUse channelUse;
    private final @Nullable Secrets secrets;
    private final @Nullable OtherKeys otherKeys;
    private final @Nullable Declarations declarations;
    private final byte[] nameBytes;
    /** Index in the table's counter arrays. */
    private int id = -1;

    CommandSpec(SpecBuilder<?> builder, @Nullable CommandSpec parent) {
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
        runnable = builder.runnable;
        traits = builder.traits.clone();
        tips = List.copyOf(builder.tips);
        categories = AclCategories.of(flags, builder.categories);
        Map<String, CommandSpec> children = new LinkedHashMap<>();
        for (SpecBuilder<?> child : builder.subcommands) {
            children.put(child.name, new CommandSpec(child, this));
        }
        subcommands = Collections.unmodifiableMap(children);
        subcommandArray = children.values().toArray(new CommandSpec[0]);
        write = flags.contains(CommandFlag.WRITE);
        denyOom = flags.contains(CommandFlag.DENYOOM);
        useNarrowing = builder.useNarrowing;
        channelUse = builder.channelUse;
        secrets = builder.secrets;
        plain = runnable && parent == null && subcommandArray.length == 0
                && (write || flags.contains(CommandFlag.READONLY) || has(CommandTrait.USES_NOTHING))
                && !flags.contains(CommandFlag.BLOCKING)
                && !has(CommandTrait.DEBUG_ONLY) && !has(CommandTrait.PUBLISHES) && !has(CommandTrait.RUNS_IN_MULTI)
                && !has(CommandTrait.TRANSFERS_KEYS);
        otherKeys = builder.otherKeys;
        declarations = builder.declarations;
        clockArguments = has(CommandTrait.SHARES_CLOCK) ? Integer.MAX_VALUE : clockArguments();
        readsOptimistically = has(CommandTrait.READS_OPTIMISTICALLY);
        allOrNothing = has(CommandTrait.ALL_OR_NOTHING);
        timeoutArgument = builder.timeoutArgument;
        timeoutFinder = builder.timeoutFinder;
        namesKeys = keyFinder != null || firstKey > 0 && keyUses.stream().noneMatch(KeyUse::isOfNoKey);
        worksOnKeys = namesKeys || has(CommandTrait.AWAITS_COMMANDS)
                || !group.equals(PUBSUB) && !categories.contains(CONNECTION);
        nameBytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        if (!runnable && subcommandArray.length == 0) {
            throw new IllegalStateException("The command " + name + " has neither a handler nor subcommands");
        }
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

    /** Number of arguments, including the name (and the parent's); negative: a minimum. */
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

    public boolean has(CommandTrait trait) {
        return traits.contains(trait);
    }

    public boolean isWrite() {
        return write;
    }

    /** {@link CommandTrait#READS_OPTIMISTICALLY}, which is checked for each command. */
    public boolean readsOptimistically() {
        return readsOptimistically;
    }

    /** Whether it shares a clock reading: {@link CommandTrait#SHARES_CLOCK}. Checked for each command. */
    public boolean sharesClock(int argumentCount) {
        return argumentCount <= clockArguments;
    }

    /**
     * The most arguments with which it shares a clock reading. FAST says that one element of a collection takes
     * constant or logarithmic time. The second argument of a write may be a number of elements (LPOP).
     */
    private int clockArguments() {
        if (!plain || !flags.contains(CommandFlag.FAST)
                || !COLLECTIONS.contains(group) && !has(CommandTrait.USES_NOTHING)) {
            return 0;
        }
        return write && arity == -2 ? 2 : MAX_CLOCK_ARGUMENTS;
    }

    /** {@link CommandTrait#ALL_OR_NOTHING}, which is checked for each command. */
    public boolean isAllOrNothing() {
        return allOrNothing;
    }

    public boolean isDenyOom() {
        return denyOom;
    }

    /** Whether it only reads or writes keys: for a client without special modes it runs without further checks. */
    public boolean isPlain() {
        return plain;
    }

    /** Whether it may wait for its keys ({@code Blocking}). */
    public boolean waitsForKeys() {
        return timeoutArgument != 0 || timeoutFinder != null;
    }

    /** Finds the timeout of a command that has it in milliseconds, among its options; null if it has it in seconds. */
    public @Nullable TimeoutFinder timeoutFinder() {
        return timeoutFinder;
    }

    /** The number of the argument with a timeout in seconds, for this argument count. */
    public int timeoutArgument(int argumentCount) {
        return timeoutArgument < 0 ? argumentCount + timeoutArgument : timeoutArgument;
    }

    /** Whether its arguments include keys: {@link #firstKey} may also be another kind of name. */
    public boolean namesKeys() {
        return namesKeys;
    }

    /** Whether it may use keys, named or not. */
    public boolean worksOnKeys() {
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

    /** How the command uses its keys; empty if it has none. */
    public List<KeyUse> keyUses() {
        return keyUses;
    }

    /**
     * How these arguments use the key at {@code index}: narrower than {@link #keyUses} if the use depends on arguments.
     */
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

    /** The channel arguments; null if there are none. */
    public @Nullable ChannelUse channelUse() {
        return channelUse;
    }

    /** Decides whether it reads keys that it does not name; null if it never does. */
    public @Nullable OtherKeys otherKeys() {
        return otherKeys;
    }

    /** Finds what the script of a call declares; null if it runs no script. */
    public @Nullable Declarations declarations() {
        return declarations;
    }

    /** Whether an argument must not be shown in the slow log or to monitors. */
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

    /** Whether it has a handler; a container of subcommands may have none. */
    public boolean isRunnable() {
        return runnable;
    }

    public Map<String, CommandSpec> subcommands() {
        return subcommands;
    }

    public boolean hasSubcommands() {
        return subcommandArray.length > 0;
    }

    /** The subcommand of this name, in any case; null if there is none. */
    public @Nullable CommandSpec subcommand(long address, int length) {
        for (CommandSpec child : subcommandArray) {
            if (child.isNamed(address, length)) {
                return child;
            }
        }
        return null;
    }

    /** Whether these bytes are its name, in any case. */
    private boolean isNamed(long address, int length) {
        return isName(nameBytes, address, length);
    }

    /** Whether the bytes at an address are a name, in any case. */
    public static boolean isName(byte[] lowerCaseName, long address, int length) {
        if (lowerCaseName.length != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            byte b = Memory.getByte(address + i);
            if (lowerCaseName[i] != (b >= 'A' && b <= 'Z' ? b + 32 : b)) {
                return false;
            }
        }
        return true;
    }

    public CommandSpec[] subcommandArray() {
        return subcommandArray;
    }

    /** Index in counter arrays, from 0 to the size of {@code CommandTable.all}, exclusive. */
    public int id() {
        return id;
    }

    public void id(int value) {
        id = value;
    }

    @Override
    public String toString() {
        return fullName();
    }

    /** Determines the use of a command's keys if it depends on the arguments. Immutable. */
    @FunctionalInterface
    public interface UseNarrowing {
        List<String> flags(Arguments arguments);
    }

    /** Decides whether a command reads keys that it does not name: it then runs with all shards locked. Immutable. */
    @FunctionalInterface
    public interface OtherKeys {
        boolean areUsed(Arguments arguments);
    }

    /** Finds what the script of a call declares about itself; null if it declares nothing. Immutable. */
    @FunctionalInterface
    public interface Declarations {
        @Nullable
        ScriptDeclaration of(Arguments arguments);
    }

    /** Decides which arguments are secrets. Immutable. */
    @FunctionalInterface
    public interface Secrets {
        boolean isSecret(Arguments arguments, int index);
    }
}
