package io.varve.server.command.batch;

import java.util.Arrays;

import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;
import org.jspecify.annotations.Nullable;

/**
 * The commands of one read, decoded and not yet executed: the addresses of their arguments, and which arguments are
 * keys. Confined to its event loop; reused, so it allocates only while it grows.
 */
public final class Batch implements RequestSink {
    /** The index of the single key that is in another database than its command's. */
    public static final int KEY_IN_OTHER_DATABASE = -1;
    /** The index of a key that the command does not name. */
    public static final int OTHER_KEY = -2;
    /** Commands executed before other connections get their turn. */
    public static final int MAX_COMMANDS = 128;
    /** Small, because a batch that waits for flash stays with its connection, and ten thousand connections may wait. */
    private static final int INITIAL_ARGUMENTS = 64;
    /** Maximum number of entries kept after a giant command; larger tables are freed. */
    private static final int MAX_KEPT = 16 << 10;
    private static final int LARGE = 1 << 10;
    /** Heap bytes of a key: the object, the reference to it, and its argument's number. */
    private static final int KEY_BYTES = 48;
    /** Table bytes of a command and of an argument. */
    private static final int COMMAND_BYTES = 21;
    private static final int ARGUMENT_BYTES = 16;

    private int[] firstArguments = new int[MAX_COMMANDS];
    private int[] argumentCounts = new int[MAX_COMMANDS];
    private int[] firstKeys = new int[MAX_COMMANDS];
    private int[] keyCounts = new int[MAX_COMMANDS];
    private @Nullable CommandSpec[] specs = new CommandSpec[MAX_COMMANDS];
    /** Codes of {@link Shortage}. */
    private byte[] shortages = new byte[MAX_COMMANDS];
    private int commandCount;

    private long[] addresses = new long[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];
    private @Nullable ValueRun[] runs = new ValueRun[INITIAL_ARGUMENTS];
    private int argumentTotal;
    private int runTotal;
    /** Created when the first run is taken; most batches have none. */
    private @Nullable ArgumentPreviews previews;

    private Key[] keys = new Key[0];
    private int[] keyArguments = new int[0];
    private int keyTotal;
    /** The keys of the last command, from number {@link #onDemandFrom} on, if they are bound on demand. */
    private @Nullable OnDemandKeys onDemand;
    private int onDemandFrom = Integer.MAX_VALUE;
    private FlashLookups flashLookups = new FlashLookups();
    /** The budget, and the bytes reserved from it for the keys of giant commands. */
    private @Nullable RequestHeapBudget chargedTo;
    private long charged;
    private final boolean slim;

    public Batch() {
        slim = false;
        growKeys(INITIAL_ARGUMENTS);
    }

    private Batch(int commands, int arguments, int keys) {
        slim = true;
        sizeCommands(commands);
        addresses = new long[arguments];
        lengths = new int[arguments];
        runs = new ValueRun[0];
        growKeys(keys);
    }

    /** Creates a batch of one command without arguments, whose keys the caller binds. */
    public static Batch ofKeys(int count) {
        Batch batch = new Batch(1, 0, count);
        batch.commandCount = 1;
        batch.keyCounts[0] = count;
        batch.keyTotal = count;
        return batch;
    }

    /** Whether its tables have exactly the size of its content. */
    public boolean isSlim() {
        return slim;
    }

    /** Approximate heap size, bytes, without runs and without the bytes charged to a budget. */
    public long heapBytes() {
        return COMMAND_BYTES * (long) firstArguments.length + ARGUMENT_BYTES * (long) addresses.length
                + KEY_BYTES * (long) keys.length + flashLookups.heapBytes() - charged;
    }

    /**
     * Moves the commands from this one on (possibly none) into a batch with small tables, for a client that waits long
     * before they run. Returns this batch if the commands are many. The argument bytes stay at their addresses; the new
     * batch takes over the runs and the pending fetch.
     */
    public Batch slim(int from) {
        if (slim && (from == 0 || 2 * from < commandCount) || isLarge()) {
            return this;
        }
        int firstArgument = from < commandCount ? firstArguments[from] : argumentTotal;
        int arguments = argumentTotal - firstArgument;
        int firstKey = from < commandCount ? firstKeys[from] : keyTotal;
        Batch rest = new Batch(commandCount - from, arguments, keyTotal - firstKey);
        System.arraycopy(addresses, firstArgument, rest.addresses, 0, arguments);
        System.arraycopy(lengths, firstArgument, rest.lengths, 0, arguments);
        for (int i = from; i < commandCount; i++) {
            int to = rest.commandCount++;
            rest.firstArguments[to] = firstArguments[i] - firstArgument;
            rest.argumentCounts[to] = argumentCounts[i];
            rest.firstKeys[to] = firstKeys[i] - firstKey;
            rest.keyCounts[to] = keyCounts[i];
            rest.specs[to] = specs[i];
            rest.shortages[to] = shortages[i];
        }
        rest.argumentTotal = arguments;
        for (int i = firstKey; i < keyTotal; i++) {
            Key key = keys[i];
            rest.keyArguments[rest.keyTotal] = keyArguments[i];
            rest.keys[rest.keyTotal].bind(key.address(), key.length(), key.hash(), key.shard(), key.database());
            rest.keys[rest.keyTotal++].slot(key.slot());
        }
        moveRuns(firstArgument, rest);
        rest.flashLookups = flashLookups.from(firstKey, keyTotal);
        flashLookups = new FlashLookups();
        return rest;
    }

    private void moveRuns(int firstArgument, Batch rest) {
        for (int i = firstArgument; i < argumentTotal && runTotal > 0; i++) {
            ValueRun run = detachRun(i);
            if (run != null) {
                if (rest.runs.length == 0) {
                    rest.runs = new ValueRun[rest.argumentTotal];
                }
                rest.runs[i - firstArgument] = run;
                rest.runTotal++;
            }
        }
    }

    /** Removes all commands and releases the runs that no command took. */
    public void clear() {
        if (runTotal > 0) {
            for (int i = 0; i < argumentTotal; i++) {
                ValueRun run = detachRun(i);
                if (run != null) {
                    run.release();
                }
            }
        }
        if (previews != null) {
            previews.clear();
        }
        if (firstArguments.length > MAX_COMMANDS) {
            sizeCommands(MAX_COMMANDS);
        }
        commandCount = 0;
        argumentTotal = 0;
        forgetKeys();
        flashLookups.clear();
        if (addresses.length > MAX_KEPT) {
            addresses = new long[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
            runs = new ValueRun[INITIAL_ARGUMENTS];
        }
        if (keys.length > MAX_KEPT) {
            keys = new Key[0];
            growKeys(INITIAL_ARGUMENTS);
        }
        RequestHeapBudget memory = chargedTo;
        if (memory != null) {
            memory.release(charged);
            chargedTo = null;
            charged = 0;
        }
    }

    /** Only a transaction has more commands than one read. */
    private void sizeCommands(int size) {
        firstArguments = Arrays.copyOf(firstArguments, size);
        argumentCounts = Arrays.copyOf(argumentCounts, size);
        firstKeys = Arrays.copyOf(firstKeys, size);
        keyCounts = Arrays.copyOf(keyCounts, size);
        specs = Arrays.copyOf(specs, size);
        shortages = Arrays.copyOf(shortages, size);
    }

    /** Whether its tables are too large to keep for the next use. */
    public boolean isLarge() {
        return addresses.length > LARGE || keys.length > LARGE || firstArguments.length > LARGE;
    }

    // --- filled by the decoder

    @Override
    public void beginRequest(int arguments) {
        if (commandCount == firstArguments.length) {
            sizeCommands(2 * commandCount);
        }
        firstArguments[commandCount] = argumentTotal;
        int needed = argumentTotal + arguments;
        if (needed > addresses.length) {
            // Doubled while small or for many commands; a giant request gets exactly what it needs.
            int doubled = commandCount < MAX_COMMANDS
                    ? Math.min(addresses.length * 2, MAX_KEPT)
                    : addresses.length * 2;
            int larger = Math.max(needed, doubled);
            addresses = Arrays.copyOf(addresses, larger);
            lengths = Arrays.copyOf(lengths, larger);
        }
    }

    @Override
    public void argument(long address, int length) {
        addresses[argumentTotal] = address;
        lengths[argumentTotal] = length;
        argumentTotal++;
    }

    @Override
    public void runArgument(ValueRun run) {
        argument(run.address(), run.length());
        if (runs.length < argumentTotal) {
            runs = Arrays.copyOf(runs, addresses.length);
        }
        runs[argumentTotal - 1] = run;
        runTotal++;
    }

    @Override
    public void endRequest(Shortage shortage) {
        argumentCounts[commandCount] = argumentTotal - firstArguments[commandCount];
        firstKeys[commandCount] = keyTotal;
        keyCounts[commandCount] = 0;
        specs[commandCount] = null;
        shortages[commandCount] = shortage.code();
        commandCount++;
    }

    @Override
    public void abandonRequest() {
        argumentTotal = firstArguments[commandCount];
    }

    @Override
    public boolean isFull() {
        return commandCount >= MAX_COMMANDS;
    }

    // --- keys

    public void spec(int command, @Nullable CommandSpec spec) {
        specs[command] = spec;
    }

    /** The command found under this name; null if there is none, or if the lookup has not happened yet. */
    public @Nullable CommandSpec spec(int command) {
        return specs[command];
    }

    /** Removes the keys of all commands before they are bound again. */
    void clearKeys() {
        forgetKeys();
        flashLookups.forgetAbsent();
    }

    private void forgetKeys() {
        keyTotal = 0;
        onDemand = null;
        onDemandFrom = Integer.MAX_VALUE;
    }

    /** Starts the key list of this command: the keys added next belong to it. */
    void beginKeys(int command) {
        firstKeys[command] = keyTotal;
        keyCounts[command] = 0;
    }

    /**
     * Reserves space for the keys of a command: exactly what many keys need, unless many commands have them. If the
     * heap budget is exhausted, the command is marked as refused.
     *
     * @return whether the space is reserved
     */
    boolean reserveKeys(int command, int count, RequestHeapBudget memory) {
        int needed = keyTotal + count;
        if (needed <= keys.length || needed <= MAX_KEPT) {
            return true;
        }
        int size = commandCount <= MAX_COMMANDS ? needed : Math.max(needed, 2 * keys.length);
        long bytes = (size - (long) Math.max(keys.length, MAX_KEPT)) * KEY_BYTES;
        if (!memory.tryReserve(bytes)) {
            shortages[command] = Shortage.ARGUMENT_MEMORY.code();
            return false;
        }
        chargedTo = memory;
        charged += bytes;
        growKeys(size);
        return true;
    }

    /** Whether this many keys should be bound on demand. */
    static boolean shouldBindOnDemand(int keyCount) {
        return keyCount > MAX_KEPT;
    }

    /** Sets the keys of the last command, which are bound on demand. */
    void addOnDemandKeys(int command, OnDemandKeys keys) {
        onDemand = keys;
        onDemandFrom = keyTotal;
        keyCounts[command] = keys.count();
        keyTotal += keys.count();
    }

    /** The keys that are bound on demand, if those from this number on are; else null. */
    @Nullable
    OnDemandKeys onDemandKeys(int from) {
        return from < onDemandFrom ? null : onDemand;
    }

    /** Whether the keys from this number on are bound on demand. */
    public boolean bindsOnDemand(int from) {
        return from >= onDemandFrom;
    }

    private Key onDemandKey(int index) {
        OnDemandKeys keys = java.util.Objects.requireNonNull(onDemand);
        int argument = firstArguments[commandCount - 1] + keys.argument(index - onDemandFrom);
        return keys.bind(addresses[argument], lengths[argument]);
    }

    /** Adds a key of the command; the caller binds it. */
    Key addKey(int command, int argumentIndex) {
        if (keyTotal == keys.length) {
            growKeys(keyTotal * 2);
        }
        keyArguments[keyTotal] = argumentIndex;
        keyCounts[command]++;
        return keys[keyTotal++];
    }

    private void growKeys(int size) {
        int old = keys.length;
        keys = Arrays.copyOf(keys, size);
        keyArguments = Arrays.copyOf(keyArguments, size);
        for (int i = old; i < size; i++) {
            keys[i] = new Key();
        }
    }

    /** The results of flash lookups for the next command's keys. */
    public FlashLookups flashLookups() {
        return flashLookups;
    }

    // --- read

    public int commandCount() {
        return commandCount;
    }

    /** The number, in the batch, of a command's first argument: its name. */
    public int firstArgument(int command) {
        return firstArguments[command];
    }

    /** Whether memory for an argument or for the keys was refused. */
    public boolean isRefused(int command) {
        return shortages[command] != 0;
    }

    /** The kind of memory that was refused. */
    public Shortage shortage(int command) {
        return Shortage.of(shortages[command]);
    }

    public int argumentCount(int command) {
        return argumentCounts[command];
    }

    /** The number, in the batch, of a command's first key. */
    public int firstKey(int command) {
        return firstKeys[command];
    }

    public int keyCount(int command) {
        return keyCounts[command];
    }

    /** Number of keys of all commands together. */
    public int keyTotal() {
        return keyTotal;
    }

    /** The key with this number in the batch; one that is bound on demand is valid until the next call. */
    public Key key(int index) {
        return index < onDemandFrom ? keys[index] : onDemandKey(index);
    }

    /** Number of keys that are bound ahead: all but those that are bound on demand. */
    public int boundKeys() {
        return Math.min(keyTotal, onDemandFrom);
    }

    /** The keys of all commands, {@link #boundKeys} of them, followed by unused keys of earlier batches. */
    public Key[] keys() {
        return keys;
    }

    public int keyArgument(int index) {
        return index < onDemandFrom
                ? keyArguments[index]
                : java.util.Objects.requireNonNull(onDemand).argument(index - onDemandFrom);
    }

    public long address(int argument) {
        return addresses[argument];
    }

    public int length(int argument) {
        return lengths[argument];
    }

    /** Whether any argument arrived in a run of its own. */
    public boolean hasRuns() {
        return runTotal > 0;
    }

    /** Total length of the arguments of the commands from this one on, bytes. */
    public long argumentBytes(int command) {
        long bytes = 0;
        for (int i = command < commandCount ? firstArguments[command] : argumentTotal; i < argumentTotal; i++) {
            bytes += lengths[i];
        }
        return bytes;
    }

    /** Whether the argument with this number arrived in a run that no command has taken. */
    public boolean hasRun(int argument) {
        return runTotal > 0 && argument < runs.length && runs[argument] != null;
    }

    /** Bytes in front of an argument that has a run. */
    public int headroom(int argument) {
        return java.util.Objects.requireNonNull(runs[argument]).headroom();
    }

    /**
     * @param headroom bytes needed in front of the value; a run with fewer stays in the batch, and the result is null
     */
    public @Nullable ValueRun takeRun(int argument, int headroom) {
        ValueRun run = argument < runs.length ? runs[argument] : null;
        if (run == null || run.headroom() < headroom) {
            return null;
        }
        if (previews == null) {
            previews = new ArgumentPreviews();
        }
        previews.keep(argument, addresses[argument], lengths[argument]);
        return detachRun(argument);
    }

    /** Undoes {@link #takeRun}: the run belongs to the argument again. */
    public void returnRun(int argument, ValueRun run) {
        assert runs[argument] == null : "argument " + argument + " has a run";
        runs[argument] = run;
        runTotal++;
    }

    private @Nullable ValueRun detachRun(int argument) {
        ValueRun run = argument < runs.length ? runs[argument] : null;
        if (run != null) {
            runs[argument] = null;
            runTotal--;
        }
        return run;
    }

    /**
     * The run in which an argument arrived; null if there is none or it was taken. The batch keeps the run, so a caller
     * that needs it longer retains it.
     */
    public @Nullable ValueRun shareRun(int argument) {
        return argument < runs.length ? runs[argument] : null;
    }

    /**
     * The first bytes of an argument of a command, for messages.
     *
     * @param length at most {@link ArgumentPreviews#BYTES} if its run may have been taken
     */
    public byte[] argumentBytes(int command, int index, int length) {
        int argument = firstArguments[command] + index;
        byte[] head = previews == null ? null : previews.of(argument, length);
        return head == null ? Memory.toArray(addresses[argument], length) : head;
    }
}
