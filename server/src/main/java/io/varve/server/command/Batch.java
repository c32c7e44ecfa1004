package io.varve.server.command;

import java.util.Arrays;

import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;
import org.jspecify.annotations.Nullable;

/**
 * The commands that one read brought, decoded and not yet executed: where their arguments lie and which of them are
 * keys. Confined to its event loop; reused, so that it allocates only while it grows.
 */
public final class Batch implements RequestSink {
    /** The index of the one key that is in another database than its command's. */
    static final int KEY_ELSEWHERE = -1;
    /** Of a key that the command does not name at all. */
    static final int OTHER_KEY = -2;
    /** Commands executed before other connections have their turn. */
    public static final int MAX_COMMANDS = 128;
    /** Few: a batch that waits for flash waits with its connection, of which there may be ten thousand. */
    private static final int INITIAL_ARGUMENTS = 64;
    /** What a giant command made grow beyond this is given back after it. */
    private static final int MAX_KEPT = 16 << 10;
    private static final int LARGE = 1 << 10;
    /** A key on the heap: the object, the reference to it, and its argument's number. */
    private static final int KEY_BYTES = 48;
    /** What a command, an argument, and a key that is noted as absent take of the tables. */
    private static final int COMMAND_BYTES = 21;
    private static final int ARGUMENT_BYTES = 16;
    private static final int ABSENT_BYTES = 13;

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
    /** There once a run was taken: most batches have none. */
    private @Nullable RunHeads heads;

    private Key[] keys = new Key[0];
    private int[] keyArguments = new int[0];
    private int keyTotal;
    /** The keys of the last command, from this number on, if they are bound in turn. */
    private @Nullable KeysInTurn inTurn;
    private int inTurnFrom = Integer.MAX_VALUE;
    /** Keys that were fetched from flash and were not there, in an epoch and after so many falls; empty until there are any. */
    private long[] absentEpochs = new long[0];
    private int[] absentFalls = new int[0];
    private boolean[] absent = new boolean[0];
    private AbsentKeys absentOthers = new AbsentKeys();
    private @Nullable Fetching fetching;
    private int fetches;
    /** What the keys of giant commands took of the heap's share for them, and of which. */
    private @Nullable ArgumentMemory chargedTo;
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

    /** Whether it has room for what is in it and no more. */
    public boolean isSlim() {
        return slim;
    }

    /** What it takes of the heap, bytes, about; runs and what has been charged apart. */
    public long heapBytes() {
        return COMMAND_BYTES * (long) firstArguments.length + ARGUMENT_BYTES * (long) addresses.length
                + KEY_BYTES * (long) keys.length + ABSENT_BYTES * (long) absent.length
                + absentOthers.heapBytes() - charged;
    }

    /**
     * The commands from this one on, none perhaps, for who waits long before they run: in a batch that takes little of the heap, or in
     * this one if they are many. What is in it lies where it lay; runs, and what is fetched for them, are taken over.
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
            rest.keys[rest.keyTotal++].bind(key.address(), key.length(), key.hash(), key.shard(), key.database());
        }
        moveRuns(firstArgument, rest);
        moveFetches(firstKey, rest);
        return rest;
    }

    private void moveFetches(int firstKey, Batch rest) {
        rest.fetches = fetches;
        rest.fetching = fetching;
        rest.absentOthers = absentOthers;
        absentOthers = new AbsentKeys();
        if (fetching != null) {
            fetching.keysMoved(firstKey);
        }
        for (int i = firstKey; i < keyTotal && i + 1 < absent.length; i++) {
            if (absent[i + 1]) {
                rest.knownAbsent(i - firstKey, absentEpochs[i + 1], absentFalls[i + 1]);
            }
        }
        int elsewhere = KEY_ELSEWHERE + 1;
        if (absent.length > 0 && absent[elsewhere]) {
            rest.knownAbsent(KEY_ELSEWHERE, absentEpochs[elsewhere], absentFalls[elsewhere]);
        }
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

    /** Forgets all commands; runs that nobody took are released. */
    public void clear() {
        if (runTotal > 0) {
            for (int i = 0; i < argumentTotal; i++) {
                ValueRun run = detachRun(i);
                if (run != null) {
                    run.release();
                }
            }
        }
        if (heads != null) {
            heads.clear();
        }
        if (firstArguments.length > MAX_COMMANDS) {
            sizeCommands(MAX_COMMANDS);
        }
        commandCount = 0;
        argumentTotal = 0;
        forgetKeys();
        forgetFetches();
        fetching = null;
        if (addresses.length > MAX_KEPT) {
            addresses = new long[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
            runs = new ValueRun[INITIAL_ARGUMENTS];
        }
        if (keys.length > MAX_KEPT) {
            keys = new Key[0];
            growKeys(INITIAL_ARGUMENTS);
        }
        ArgumentMemory memory = chargedTo;
        if (memory != null) {
            memory.give(charged);
            chargedTo = null;
            charged = 0;
        }
    }

    /** Only a transaction has more commands than one read brings. */
    private void sizeCommands(int size) {
        firstArguments = Arrays.copyOf(firstArguments, size);
        argumentCounts = Arrays.copyOf(argumentCounts, size);
        firstKeys = Arrays.copyOf(firstKeys, size);
        keyCounts = Arrays.copyOf(keyCounts, size);
        specs = Arrays.copyOf(specs, size);
        shortages = Arrays.copyOf(shortages, size);
    }

    /** Whether its tables have grown so large that they are not worth keeping for the next. */
    boolean isLarge() {
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
            // Doubled while small, or of many commands; of a giant request exactly what it needs.
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

    void spec(int command, @Nullable CommandSpec spec) {
        specs[command] = spec;
    }

    /** What was found under a command's name; null if there is no such command, or none was looked for yet. */
    public @Nullable CommandSpec spec(int command) {
        return specs[command];
    }

    /** Forgets the keys of all commands: they are about to be bound. */
    void clearKeys() {
        forgetKeys();
        forgetFetches();
    }

    private void forgetKeys() {
        keyTotal = 0;
        inTurn = null;
        inTurnFrom = Integer.MAX_VALUE;
    }

    /** The keys that are added from now on are this command's. */
    void beginKeys(int command) {
        firstKeys[command] = keyTotal;
        keyCounts[command] = 0;
    }

    /**
     * Makes room for the keys of a command: of many exactly what they need, if not many commands have them. If the heap has none to give, the command is
     * refused.
     *
     * @return whether there is room
     */
    boolean reserveKeys(int command, int count, ArgumentMemory memory) {
        int needed = keyTotal + count;
        if (needed <= keys.length || needed <= MAX_KEPT) {
            return true;
        }
        int size = commandCount <= MAX_COMMANDS ? needed : Math.max(needed, 2 * keys.length);
        long bytes = (size - (long) Math.max(keys.length, MAX_KEPT)) * KEY_BYTES;
        if (!memory.take(bytes)) {
            shortages[command] = Shortage.ARGUMENT_MEMORY.code();
            return false;
        }
        chargedTo = memory;
        charged += bytes;
        growKeys(size);
        return true;
    }

    /** So many keys are worth binding in turn. */
    static boolean areMany(int keys) {
        return keys > MAX_KEPT;
    }

    /** The keys of the command, which is the last, will be bound when they are asked for. */
    void addKeysInTurn(int command, KeysInTurn keys) {
        inTurn = keys;
        inTurnFrom = keyTotal;
        keyCounts[command] = keys.count();
        keyTotal += keys.count();
    }

    /** The keys that are bound in turn, if those from this number on are; else null. */
    @Nullable
    KeysInTurn keysInTurn(int from) {
        return from < inTurnFrom ? null : inTurn;
    }

    /** Whether the keys from this number on are bound in turn. */
    public boolean bindsInTurn(int from) {
        return from >= inTurnFrom;
    }

    private Key keyInTurn(int index) {
        KeysInTurn keys = java.util.Objects.requireNonNull(inTurn);
        int argument = firstArguments[commandCount - 1] + keys.argument(index - inTurnFrom);
        return keys.bind(addresses[argument], lengths[argument]);
    }

    /** A key of the command, to be bound by the caller. */
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

    // --- what was fetched from flash

    /** Keys are on their way for the command that is next. */
    void fetching(Fetching keys) {
        fetching = keys;
        fetches++;
    }

    /** What was asked for last, once; null if nothing was. */
    @Nullable
    Fetching takeFetching() {
        Fetching asked = fetching;
        fetching = null;
        return asked;
    }

    /** How often keys were fetched for the command that is next. */
    int fetches() {
        return fetches;
    }

    /** The command that is next has been answered: what was found out about a key of its own elsewhere is another's no more. */
    public void endFetches() {
        fetches = 0;
        fetching = null;
        absentOthers.clear();
        if (absent.length > 0) {
            absent[KEY_ELSEWHERE + 1] = false;
        }
    }

    /** A key was not on flash, in this epoch, after so many falls. */
    void knownAbsent(int keyIndex, long epoch, int falls) {
        int at = keyIndex + 1;
        if (at >= absent.length) {
            int size = Math.max(keyTotal + 1, at + 1);
            absent = Arrays.copyOf(absent, size);
            absentEpochs = Arrays.copyOf(absentEpochs, size);
            absentFalls = Arrays.copyOf(absentFalls, size);
        }
        absent[at] = true;
        absentEpochs[at] = epoch;
        absentFalls[at] = falls;
    }

    boolean isKnownAbsent(int keyIndex, long epoch, int falls) {
        int at = keyIndex + 1;
        return at < absent.length && absent[at] && absentEpochs[at] == epoch && absentFalls[at] == falls;
    }

    /** The same of keys that the command that is next does not name. */
    AbsentKeys absentOthers() {
        return absentOthers;
    }

    private void forgetFetches() {
        fetches = 0;
        absentOthers.clear();
        if (absent.length > MAX_KEPT) {
            absent = new boolean[0];
            absentEpochs = new long[0];
            absentFalls = new int[0];
        } else if (absent.length > 0) {
            Arrays.fill(absent, false);
        }
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

    /** Which memory was refused. */
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

    /** How many keys a command has. */
    public int keyCount(int command) {
        return keyCounts[command];
    }

    /** How many keys all commands have. */
    public int keyTotal() {
        return keyTotal;
    }

    /** The key with this number in the batch; one that is bound in turn is valid until the next call. */
    public Key key(int index) {
        return index < inTurnFrom ? keys[index] : keyInTurn(index);
    }

    /** How many keys are bound ahead: all but those that are bound in turn. */
    public int boundKeys() {
        return Math.min(keyTotal, inTurnFrom);
    }

    /** The keys of all commands, {@link #boundKeys} of them, and then those of earlier batches. */
    public Key[] keys() {
        return keys;
    }

    int keyArgument(int index) {
        return index < inTurnFrom
                ? keyArguments[index]
                : java.util.Objects.requireNonNull(inTurn).argument(index - inTurnFrom);
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

    /** How long the arguments of the commands from this one on are together, bytes. */
    public long argumentBytes(int command) {
        long bytes = 0;
        for (int i = command < commandCount ? firstArguments[command] : argumentTotal; i < argumentTotal; i++) {
            bytes += lengths[i];
        }
        return bytes;
    }

    /** Whether the argument with this number in the batch arrived in a run that nobody has taken. */
    public boolean hasRun(int argument) {
        return runTotal > 0 && argument < runs.length && runs[argument] != null;
    }

    /** Of an argument that has a run: bytes in front of it. */
    public int headRoom(int argument) {
        return java.util.Objects.requireNonNull(runs[argument]).headRoom();
    }

    /** @param headRoom bytes in front of the value: a run with less stays where it is, and null is returned */
    @Nullable
    ValueRun takeRun(int argument, int headRoom) {
        ValueRun run = argument < runs.length ? runs[argument] : null;
        if (run == null || run.headRoom() < headRoom) {
            return null;
        }
        if (heads == null) {
            heads = new RunHeads();
        }
        heads.keep(argument, addresses[argument], lengths[argument]);
        return detachRun(argument);
    }

    /** Undoes {@link #takeRun}: the run is the argument's again. */
    void giveRunBack(int argument, ValueRun run) {
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

    /** The run in which an argument arrived, which stays the batch's: who keeps it retains it. Null if it did not, or was taken. */
    @Nullable
    ValueRun shareRun(int argument) {
        return argument < runs.length ? runs[argument] : null;
    }

    /**
     * The first bytes of an argument of a command, for messages.
     *
     * @param length no more than {@link RunHeads#BYTES} where its run may have been taken
     */
    public byte[] argumentBytes(int command, int index, int length) {
        int argument = firstArguments[command] + index;
        byte[] head = heads == null ? null : heads.of(argument, length);
        return head == null ? Memory.toArray(addresses[argument], length) : head;
    }
}
