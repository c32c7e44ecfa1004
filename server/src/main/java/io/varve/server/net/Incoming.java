package io.varve.server.net;

import io.netty.buffer.ByteBuf;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.RequestDecoder;
import org.jspecify.annotations.Nullable;

/**
 * The inbound side of one connection: the bytes that are received but not executed, and the decoder's state. Confined
 * to its event loop, except {@link #bytes} and {@link #capacityBytes}, which any thread may call.
 *
 * <p>A batch in execution, or parked, points into the bytes that it was decoded from. These bytes do not move until the
 * batch has run, and new input is stored separately.
 *
 * <pre>
 *  pending                               late
 *  +------------------+----------------+ +------------------------------+
 *  | a batch's: stays | not decoded    | | came while the batch ran, or |
 *  | until it has run |                | | was parked                   |
 *  +------------------+----------------+ +------------------------------+
 *                                       ^ compact() joins them, once the batch has run
 * </pre>
 */
final class Incoming {
    /** Maximum bytes decoded before other connections get a turn. */
    private static final int BATCH_BYTES = 64 << 10;
    /**
     * Up to this size, an incomplete request of known length gets a buffer of exactly that length; else the buffer
     * doubles.
     */
    private static final int EXACT_BYTES = 128 << 10;

    private final ServerState server;
    private final ConnectionBuffers buffers;
    private final RequestDecoder decoder;
    /** Bytes that are received but not decoded, after those that a batch in execution points into. */
    private @Nullable ByteBuf pending;
    /** Bytes that arrived while a batch pointed into {@link #pending}, which must then not move. */
    private @Nullable ByteBuf late;
    private boolean moreToDecode;
    /** Start of the current batch in {@link #pending}; at most the reader index. */
    private int batchFrom;

    private volatile long bytes;
    private volatile long capacityBytes;

    Incoming(ServerState server, LargeBulks largeBulks, ConnectionBuffers buffers) {
        this.server = server;
        this.buffers = buffers;
        decoder = new RequestDecoder(largeBulks, server.argumentMemory(), server.config().maxBulkBytes());
    }

    // --- receiving

    /**
     * Takes over received bytes: into the large bulk that is being received, and the rest after the pending bytes. No
     * batch may point into those.
     */
    void receive(ByteBuf in) {
        if (decoder.isFilling()) {
            long address = in.memoryAddress() + in.readerIndex();
            in.skipBytes(decoder.fill(address, in.readableBytes()));
        }
        if (in.isReadable()) {
            pending = append(pending, in);
        } else {
            in.release();
        }
    }

    /** Takes over bytes that arrive while a batch is executed or parked. */
    void receiveWhileBusy(ByteBuf in) {
        late = append(late, in);
    }

    /** Whether little enough arrived during the execution or parking of a batch to read more. */
    boolean acceptsWhileBusy() {
        return late == null || late.readableBytes() < BATCH_BYTES;
    }

    private ByteBuf append(@Nullable ByteBuf to, ByteBuf in) {
        if (to == null) {
            return in;
        }
        int more = in.readableBytes();
        ByteBuf target = to;
        try {
            if (to.writableBytes() < more || to.refCnt() > 1) {
                target = buffers.forKeeping(capacityFor(to.readableBytes() + more));
                target.writeBytes(to);
                to.release();
            }
            target.writeBytes(in);
        } finally {
            in.release();
        }
        return target;
    }

    /** Doubles the buffer, so that a request in small pieces is copied a constant number of times. */
    private int capacityFor(int bytesToKeep) {
        long needed = decoder.neededBytes();
        if (needed >= bytesToKeep && needed <= EXACT_BYTES) {
            return (int) needed;
        }
        return Math.clamp(2L * bytesToKeep, 512, Integer.MAX_VALUE);
    }

    // --- decoding

    /**
     * Decodes requests into an empty batch, which points into them until {@link #executed}; at most as many as one turn
     * executes.
     */
    void decode(boolean authenticated, Batch batch) {
        ByteBuf buffer = pending;
        moreToDecode = false;
        if (buffer == null) {
            return;
        }
        decoder.authenticated(authenticated);
        decoder.maxBulkBytes(server.config().maxBulkBytes());
        int from = buffer.readerIndex();
        batchFrom = from;
        int to = buffer.writerIndex();
        // Before authentication, one request at a time: after its AUTH other limits apply.
        int batchBytes = authenticated ? BATCH_BYTES : 1;
        int reached = decoder.decode(buffer.memoryAddress(), from, to, batchBytes, batch);
        if (decoder.isFilling()) {
            buffer.writerIndex(reached + decoder.keepBytes());
        }
        buffer.readerIndex(reached);
        moreToDecode = buffer.isReadable() && decoder.error() == null && !decoder.isFilling()
                && (batch.isFull() || reached - from >= batchBytes);
    }

    /** Whether the available bytes allow further decoding. */
    boolean hasMore() {
        return moreToDecode;
    }

    /** The protocol error, once all input before it is decoded; decoding stops there. Null: none. */
    @Nullable
    String error() {
        return moreToDecode ? null : decoder.error();
    }

    /** Ends the batch: it stops pointing into the input. */
    void executed() {
        batchFrom = Integer.MAX_VALUE;
        decoder.executed();
    }

    // --- keeping

    /**
     * Releases decoded input, and appends late input. No batch may point into the input.
     *
     * @throws io.varve.server.resp.NoBufferException if there is no memory for the bytes to keep
     */
    void compact() {
        releaseIfDecoded();
        ByteBuf rest = pending;
        if (rest != null && !moreToDecode) {
            moveIfBetter(rest);
        }
        ByteBuf waiting = late;
        if (waiting != null) {
            late = null;
            receive(waiting);
            moreToDecode = pending != null;
        }
    }

    /** Releases the input if all of it is decoded; late input stays separate. No batch may point into the input. */
    void releaseIfDecoded() {
        ByteBuf buffer = pending;
        if (buffer != null && !buffer.isReadable()) {
            buffer.release();
            pending = null;
        }
    }

    private void moveIfBetter(ByteBuf rest) {
        int kept = rest.readableBytes();
        if (kept < rest.capacity() / 4) {
            // The few bytes of an incomplete request must not hold a large buffer.
            move(rest, kept * 2);
        } else if (buffers.isToMove(rest)) {
            move(rest, capacityFor(kept));
        }
    }

    private void move(ByteBuf buffer, int minCapacity) {
        ByteBuf target = buffers.forKeeping(minCapacity);
        target.writeBytes(buffer);
        buffer.release();
        pending = target;
        batchFrom = Integer.MAX_VALUE;
    }

    /** Drops all input, including the received part of a large bulk. */
    void close() {
        decoder.close();
        if (pending != null) {
            pending.release();
            pending = null;
        }
        if (late != null) {
            late.release();
            late = null;
        }
    }

    // --- sizes

    /** Publishes the sizes for other threads. */
    void measure() {
        bytes = (pending == null ? 0L : pending.readableBytes()) + (late == null ? 0 : late.readableBytes());
        capacityBytes = capacityBytesDuringBatch();
    }

    /** Received bytes, including those that the batch in execution points into. Called on its event loop. */
    long bytesDuringBatch() {
        ByteBuf buffer = pending;
        return (buffer == null ? 0L : buffer.writerIndex() - Math.min(batchFrom, buffer.readerIndex()))
                + (late == null ? 0 : late.readableBytes());
    }

    /** Capacity of the input buffers. Called on its event loop. */
    long capacityBytesDuringBatch() {
        return (pending == null ? 0L : pending.capacity()) + (late == null ? 0 : late.capacity());
    }

    /** Received bytes that were not decoded at the last measurement. Called by any thread. */
    long bytes() {
        return bytes;
    }

    /** Capacity of the input buffers at the last measurement. Called by any thread. */
    long capacityBytes() {
        return capacityBytes;
    }
}
