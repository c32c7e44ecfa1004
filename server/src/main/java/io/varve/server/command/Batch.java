package io.varve.server.command;

import java.util.Arrays;

import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.RequestSink;
import org.jspecify.annotations.Nullable;

/**
 * The commands that one read brought, decoded and not yet executed: where their arguments lie and which of them are
 * keys. Confined to its event loop; reused, so that it allocates only while it grows.
 */
public final class Batch implements RequestSink {
    /** Commands executed before other connections have their turn. */
    public static final int MAX_COMMANDS = 128;
    private static final int INITIAL_ARGUMENTS = 512;
    /** What a giant command made grow beyond this is given back after it. */
    private static final int MAX_KEPT = 16 << 10;

    private final int[] firstArguments = new int[MAX_COMMANDS];
    private final int[] argumentCounts = new int[MAX_COMMANDS];
    private final int[] firstKeys = new int[MAX_COMMANDS];
    private final int[] keyCounts = new int[MAX_COMMANDS];
    private final @Nullable CommandSpec[] specs = new CommandSpec[MAX_COMMANDS];
    private final boolean[] refused = new boolean[MAX_COMMANDS];
    private int commandCount;

    private long[] addresses = new long[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];
    private @Nullable ValueRun[] runs = new ValueRun[INITIAL_ARGUMENTS];
    private int argumentTotal;
    private int runTotal;

    private Key[] keys = new Key[0];
    private int[] keyArguments = new int[0];
    private int keyTotal;

    public Batch() {
        growKeys(INITIAL_ARGUMENTS);
    }

    /** Forgets all commands; runs that nobody took are released. */
    public void clear() {
        if (runTotal > 0) {
            for (int i = 0; i < argumentTotal; i++) {
                ValueRun run = takeRun(i);
                if (run != null) {
                    run.release();
                }
            }
        }
        commandCount = 0;
        argumentTotal = 0;
        keyTotal = 0;
        if (addresses.length > MAX_KEPT) {
            addresses = new long[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
            runs = new ValueRun[INITIAL_ARGUMENTS];
        }
        if (keys.length > MAX_KEPT) {
            keys = new Key[0];
            growKeys(INITIAL_ARGUMENTS);
        }
    }

    // --- filled by the decoder

    @Override
    public void beginRequest() {
        firstArguments[commandCount] = argumentTotal;
    }

    @Override
    public void argument(long address, int length) {
        if (argumentTotal == addresses.length) {
            int larger = argumentTotal * 2;
            addresses = Arrays.copyOf(addresses, larger);
            lengths = Arrays.copyOf(lengths, larger);
            runs = Arrays.copyOf(runs, larger);
        }
        addresses[argumentTotal] = address;
        lengths[argumentTotal] = length;
        argumentTotal++;
    }

    @Override
    public void runArgument(ValueRun run) {
        argument(run.address(), run.length());
        runs[argumentTotal - 1] = run;
        runTotal++;
    }

    @Override
    public void endRequest(boolean refused) {
        argumentCounts[commandCount] = argumentTotal - firstArguments[commandCount];
        firstKeys[commandCount] = keyTotal;
        keyCounts[commandCount] = 0;
        specs[commandCount] = null;
        this.refused[commandCount] = refused;
        commandCount++;
    }

    @Override
    public boolean isFull() {
        return commandCount == MAX_COMMANDS;
    }

    // --- keys

    void spec(int command, @Nullable CommandSpec spec) {
        specs[command] = spec;
    }

    @Nullable
    CommandSpec spec(int command) {
        return specs[command];
    }

    /** Forgets the keys of all commands: they are about to be bound. */
    void clearKeys() {
        keyTotal = 0;
    }

    void beginKeys(int command) {
        firstKeys[command] = keyTotal;
        keyCounts[command] = 0;
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

    // --- read

    public int commandCount() {
        return commandCount;
    }

    int firstArgument(int command) {
        return firstArguments[command];
    }

    /** Whether memory for an argument was refused. */
    boolean isRefused(int command) {
        return refused[command];
    }

    public int argumentCount(int command) {
        return argumentCounts[command];
    }

    int firstKey(int command) {
        return firstKeys[command];
    }

    int keyCount(int command) {
        return keyCounts[command];
    }

    int keyTotal() {
        return keyTotal;
    }

    Key key(int index) {
        return keys[index];
    }

    int keyArgument(int index) {
        return keyArguments[index];
    }

    public long address(int argument) {
        return addresses[argument];
    }

    public int length(int argument) {
        return lengths[argument];
    }

    boolean hasRun(int argument) {
        return runs[argument] != null;
    }

    @Nullable
    ValueRun takeRun(int argument) {
        ValueRun run = runs[argument];
        if (run != null) {
            runs[argument] = null;
            runTotal--;
        }
        return run;
    }

    /** The first bytes of an argument of a command, for messages. */
    byte[] argumentBytes(int command, int index, int length) {
        return Memory.toArray(addresses[firstArguments[command] + index], length);
    }
}
