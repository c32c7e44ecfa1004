package io.varve.server.command;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.varve.memory.collection.HashedTree;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.MemberPrefetcher;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.DoubleReader;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of the running command: their addresses, its keys, and parsed numbers. Confined to its event loop;
 * reused from command to command.
 */
public abstract sealed class CallArguments implements Arguments permits CommandContext {
    private Batch batch = new Batch();
    private @Nullable CommandSpec spec;
    private int command;
    private int firstArgument;
    private int argumentCount;
    private int firstKey;
    private int keyCount;
    private long longValue;
    private double doubleValue;
    private int formattedLength;
    private ByteBuffer scratchBuffer = ByteBuffer.allocateDirect(0);
    private long scratch;
    private int scratchBytes;

    CallArguments() {}

    /** Points at one command of the batch. */
    final void pointAt(CommandSpec spec, Batch batch, int command) {
        this.spec = spec;
        this.batch = batch;
        this.command = command;
        firstArgument = batch.firstArgument(command);
        argumentCount = batch.argumentCount(command);
        firstKey = batch.firstKey(command);
        keyCount = batch.keyCount(command);
    }

    /** The batch that holds the command. */
    public final Batch batch() {
        return batch;
    }

    /** The command's number in the batch. */
    final int command() {
        return command;
    }

    /**
     * Prefetches the members of a large collection that this command, and those after it in the batch, will search.
     *
     * @param first the argument of the first member
     * @param step the arguments from one member to the next
     */
    public final void prefetchMembers(HashedTree tree, int first, int step) {
        MemberPrefetcher.prefetch(batch, command, tree, first, step);
    }

    @Override
    public final int argumentCount() {
        return argumentCount;
    }

    @Override
    public final long argumentAddress(int index) {
        return batch.address(firstArgument + index);
    }

    @Override
    public final int argumentLength(int index) {
        return batch.length(firstArgument + index);
    }

    /** The key at this argument, its shard locked. */
    public final Key key(int argumentIndex) {
        CommandSpec command = spec();
        if (command.keyFinder() == null && argumentIndex >= command.firstKey()) {
            int place = (argumentIndex - command.firstKey()) / command.keyStep();
            if (place < keyCount && batch.keyArgument(firstKey + place) == argumentIndex) {
                return batch.key(firstKey + place);
            }
        }
        for (int i = firstKey; i < firstKey + keyCount; i++) {
            if (batch.keyArgument(i) == argumentIndex) {
                return batch.key(i);
            }
        }
        throw new IllegalArgumentException("Argument " + argumentIndex + " of " + spec + " is not a key");
    }

    public final int keyCount() {
        return keyCount;
    }

    /** The command's key number {@code index}, its shard locked. */
    public final Key keyAt(int index) {
        return batch.key(firstKey + index);
    }

    public final CommandSpec spec() {
        return java.util.Objects.requireNonNull(spec);
    }

    /**
     * Takes over the run in which a large argument arrived. Null if the argument is in the read buffer, or if fewer
     * bytes are free in front of it. The caller releases the run.
     *
     * @param headroom bytes needed in front of it, for header and key
     */
    public final @Nullable ValueRun takeRun(int argumentIndex, int headroom) {
        return batch.takeRun(firstArgument + argumentIndex, headroom);
    }

    /** Undoes {@link #takeRun} and passes the caller's reference to the run back. */
    public final void returnRun(int argumentIndex, ValueRun run) {
        batch.returnRun(firstArgument + argumentIndex, run);
    }

    /**
     * The run in which a large argument arrived; null if the argument is in the read buffer. The command keeps the run,
     * so a caller that needs it longer retains it.
     */
    public final @Nullable ValueRun shareRun(int argumentIndex) {
        return batch.shareRun(firstArgument + argumentIndex);
    }

    /** Length of the longest argument from this number on, bytes. */
    public final int longestArgument(int from) {
        int longest = 0;
        for (int i = from; i < argumentCount; i++) {
            longest = Math.max(longest, argumentLength(i));
        }
        return longest;
    }

    /** Whether a large argument arrived in a run, for {@link #takeRun}. */
    public final boolean hasRun(int argumentIndex) {
        return batch.hasRun(firstArgument + argumentIndex);
    }

    // --- numbers

    /** Whether the bytes are an integer; {@link #longValue} then returns it. */
    public final boolean parseLong(long address, int length) {
        long small = Numbers.smallNatural(address, length);
        if (small >= 0) {
            longValue = small;
            return true;
        }
        if (!Numbers.isLong(address, length)) {
            return false;
        }
        longValue = Numbers.toLong(address, length);
        return true;
    }

    /** Whether the argument is an integer; {@link #longValue} then returns it. */
    public final boolean isLong(int argumentIndex) {
        return parseLong(argumentAddress(argumentIndex), argumentLength(argumentIndex));
    }

    /** The result of the last successful {@code isLong} or {@code parseLong}. */
    public final long longValue() {
        return longValue;
    }

    /** Whether the bytes are a float; {@link #doubleValue} then returns it. */
    public final boolean parseDouble(long address, int length) {
        double value = DoubleReader.parse(address, length);
        doubleValue = value;
        return !Double.isNaN(value);
    }

    /** The result of the last successful {@code parseDouble}. */
    public final double doubleValue() {
        return doubleValue;
    }

    /**
     * Writes the decimal form of a number into scratch memory. @return its address; it has {@link #formattedLength}
     * bytes
     */
    public final long formatLong(long value) {
        long address = scratch(Numbers.MAX_LONG_CHARS);
        formattedLength = Numbers.putLong(address, value);
        return address;
    }

    /** See {@link #formatLong}. */
    public final int formattedLength() {
        return formattedLength;
    }

    // --- scratch memory

    /** Native memory of at least this size, valid until the next call or the end of the command. */
    public final long scratch(int bytes) {
        if (bytes > scratchBytes) {
            // The garbage collector frees the old memory: scratch grows only a few times in the life of an event loop.
            scratchBytes = Math.max(4096, Math.min(Integer.MAX_VALUE - 8, bytes + bytes / 2));
            scratchBuffer = ByteBuffer.allocateDirect(scratchBytes);
            scratch = MemorySegment.ofBuffer(scratchBuffer).address();
        }
        return scratch;
    }

    /** Copies the bytes into scratch memory. */
    public final long scratch(byte[] bytes) {
        long address = scratch(Math.max(1, bytes.length));
        Memory.copy(bytes, 0, address, bytes.length);
        return address;
    }

    @Override
    public final String toString() {
        String[] texts = new String[argumentCount];
        Arrays.setAll(texts, this::argumentString);
        return command + ": " + String.join(" ", texts);
    }
}
