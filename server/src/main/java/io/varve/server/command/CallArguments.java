package io.varve.server.command;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.DoubleReader;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of the command that runs: where they lie, which of them are keys, and the numbers among them. Confined to its event loop;
 * reused from command to command.
 */
public abstract sealed class CallArguments implements Arguments permits Invocation {
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

    /** From now on these are the arguments of one command of the batch. */
    final void pointAt(CommandSpec spec, Batch batch, int command) {
        this.spec = spec;
        this.batch = batch;
        this.command = command;
        firstArgument = batch.firstArgument(command);
        argumentCount = batch.argumentCount(command);
        firstKey = batch.firstKey(command);
        keyCount = batch.keyCount(command);
    }

    /** The batch that the command is in. */
    final Batch batch() {
        return batch;
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

    /** The key that stands at this argument, its shard locked. */
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
        throw new IllegalArgumentException("Argument " + argumentIndex + " of " + spec + " is no key");
    }

    /** How many keys the command names. */
    public final int keyCount() {
        return keyCount;
    }

    /** The key number {@code index} of those the command names, its shard locked. */
    public final Key keyAt(int index) {
        return batch.key(firstKey + index);
    }

    /** What the command is. */
    public final CommandSpec spec() {
        return java.util.Objects.requireNonNull(spec);
    }

    /**
     * Takes over the run in which a large argument arrived; null if it lies in the read buffer, or if there is less room in
     * front of it. The taker releases it.
     *
     * @param headRoom bytes that are needed in front of it, for header and key
     */
    public final @Nullable ValueRun takeRun(int argumentIndex, int headRoom) {
        return batch.takeRun(firstArgument + argumentIndex, headRoom);
    }

    /** Undoes {@link #takeRun}, with the caller's hold on the run. */
    public final void giveRunBack(int argumentIndex, ValueRun run) {
        batch.giveRunBack(firstArgument + argumentIndex, run);
    }

    /**
     * The run in which a large argument arrived, which stays the command's: who keeps it for longer retains it. Null if it lies in the
     * read buffer.
     */
    public final @Nullable ValueRun shareRun(int argumentIndex) {
        return batch.shareRun(firstArgument + argumentIndex);
    }

    /** Bytes of the longest argument from a number on. */
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

    /** Whether the bytes are an integer; {@link #longValue} then has it. */
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

    /** Whether the argument is an integer; {@link #longValue} then has it. */
    public final boolean isLong(int argumentIndex) {
        return parseLong(argumentAddress(argumentIndex), argumentLength(argumentIndex));
    }

    /** What the last successful {@code isLong} or {@code parseLong} read. */
    public final long longValue() {
        return longValue;
    }

    /** Whether the bytes are a float; {@link #doubleValue} then has it. */
    public final boolean parseDouble(long address, int length) {
        double value = DoubleReader.parse(address, length);
        doubleValue = value;
        return !Double.isNaN(value);
    }

    /** What the last successful {@code parseDouble} read. */
    public final double doubleValue() {
        return doubleValue;
    }

    /** The decimal form of a number, written into scratch memory. @return its address; {@link #formattedLength} bytes */
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

    /** At least so many bytes of native memory, valid until the next call or the end of the command. */
    public final long scratch(int bytes) {
        if (bytes > scratchBytes) {
            // The old memory goes with the collector: scratch grows a few times in the life of an event loop.
            scratchBytes = Math.max(4096, Math.min(Integer.MAX_VALUE - 8, bytes + bytes / 2));
            scratchBuffer = ByteBuffer.allocateDirect(scratchBytes);
            scratch = MemorySegment.ofBuffer(scratchBuffer).address();
        }
        return scratch;
    }

    /** Copies into scratch memory. */
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
