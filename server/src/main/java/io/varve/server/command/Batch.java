package io.varve.server.command;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The commands that one read brought, decoded and not yet executed: where their arguments lie and which of them are
 * keys. Confined to its event loop; reused, so that it allocates only while it grows.
 */
public final class Batch {
    /** Commands executed before other connections have their turn. */
    public static final int MAX_COMMANDS = 128;

    private final int[] firstArguments = new int[MAX_COMMANDS];
    private final int[] argumentCounts = new int[MAX_COMMANDS];
    private final int[] firstKeys = new int[MAX_COMMANDS];
    private final int[] keyCounts = new int[MAX_COMMANDS];
    private final @Nullable CommandSpec[] specs = new CommandSpec[MAX_COMMANDS];
    private int commandCount;

    private long[] addresses = new long[1024];
    private int[] lengths = new int[1024];
    private @Nullable ValueRun[] runs = new ValueRun[1024];
    private int argumentTotal;
    private int runTotal;

    private Key[] keys = new Key[0];
    private int[] keyArguments = new int[0];
    private int keyTotal;

    private ByteBuffer scratch = ByteBuffer.allocateDirect(0);
    private int scratchBytes;

    public Batch() {
        growKeys(256);
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
    }

    // --- filled by the decoder

    public void beginCommand() {
        firstArguments[commandCount] = argumentTotal;
        argumentCounts[commandCount] = 0;
    }

    public void addArgument(long address, int length) {
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

    /** An argument that lies in a run, which the batch takes over. */
    public void addRunArgument(ValueRun run) {
        addArgument(run.address(), run.length());
        runs[argumentTotal - 1] = run;
        runTotal++;
    }

    public void endCommand() {
        argumentCounts[commandCount] = argumentTotal - firstArguments[commandCount];
        firstKeys[commandCount] = keyTotal;
        keyCounts[commandCount] = 0;
        specs[commandCount] = null;
        commandCount++;
    }

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

    // --- scratch

    /** The old memory goes with the collector: scratch grows a few times in the life of an event loop. */
    long growScratch(int bytes) {
        scratchBytes = Math.max(4096, Integer.highestOneBit(Math.max(1, bytes - 1)) * 2);
        scratch = ByteBuffer.allocateDirect(scratchBytes);
        return MemorySegment.ofBuffer(scratch).address();
    }

    int scratchBytes() {
        return scratchBytes;
    }

    /** The bytes of an argument of a command, for messages. */
    byte[] argumentBytes(int command, int index) {
        int argument = firstArguments[command] + index;
        return Memory.toArray(addresses[argument], lengths[argument]);
    }
}
