package io.varve.server.net;

import io.netty.buffer.ByteBuf;
import io.varve.server.command.Batch;
import io.varve.server.command.ServerContext;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.RequestDecoder;
import org.jspecify.annotations.Nullable;

/**
 * The way in of one connection: what was received and has not been executed, and where decoding it stands. Confined to its event loop,
 * but for {@link #bytes} and {@link #capacityBytes}, which any thread may ask for.
 *
 * <p>A batch in execution, or parked, points into the bytes that it was decoded from. These stay where they are meanwhile, and what comes
 * is kept apart from them.
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
    /** Bytes decoded before other connections have their turn. */
    private static final int TURN_BYTES = 64 << 10;
    /** What is kept of a request whose need is known and not over this is given just that; else it is doubled. */
    private static final int EXACT_BYTES = 128 << 10;

    private final ServerContext server;
    private final ConnectionBuffers buffers;
    private final RequestDecoder decoder;
    /** What was received and not decoded, behind what a batch in execution points into. */
    private @Nullable ByteBuf pending;
    /** What came while a batch pointed into {@link #pending}, which must then not move. */
    private @Nullable ByteBuf late;
    private boolean moreToDecode;
    /** Where in {@link #pending} the batch begins that points into it; no more than the reader index. */
    private int batchFrom;

    private volatile long bytes;
    private volatile long capacityBytes;

    Incoming(ServerContext server, LargeBulks largeBulks, ConnectionBuffers buffers) {
        this.server = server;
        this.buffers = buffers;
        decoder = new RequestDecoder(largeBulks, server.argumentMemory(), server.config().maxBulkBytes());
    }

    // --- receiving

    /** Takes over received bytes: into the large bulk that is awaited, and the rest behind what is there. No batch may point into that. */
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

    /** Takes over bytes that came while a batch is executed or parked. */
    void receiveLate(ByteBuf in) {
        late = append(late, in);
    }

    /** Whether little enough has come while a batch was executed or parked for more to be read. */
    boolean takesLate() {
        return late == null || late.readableBytes() < TURN_BYTES;
    }

    private ByteBuf append(@Nullable ByteBuf to, ByteBuf in) {
        if (to == null) {
            return in;
        }
        int more = in.readableBytes();
        ByteBuf target = to;
        try {
            if (to.writableBytes() < more || to.refCnt() > 1) {
                target = buffers.forKeeping(roomFor(to.readableBytes() + more));
                target.writeBytes(to);
                to.release();
            }
            target.writeBytes(in);
        } finally {
            in.release();
        }
        return target;
    }

    /** Doubled, so that a request arriving in small pieces is copied a constant number of times. */
    private int roomFor(int bytesToKeep) {
        long needed = decoder.neededBytes();
        if (needed >= bytesToKeep && needed <= EXACT_BYTES) {
            return (int) needed;
        }
        return Math.clamp(2L * bytesToKeep, 512, Integer.MAX_VALUE);
    }

    // --- decoding

    /** Decodes requests into an empty batch, which points into them until {@link #executed}; no more than are executed in one turn. */
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
        // Until it has authenticated, one at a time: behind its AUTH other limits hold.
        int turnBytes = authenticated ? TURN_BYTES : 1;
        int reached = decoder.decode(buffer.memoryAddress(), from, to, turnBytes, batch);
        if (decoder.isFilling()) {
            buffer.writerIndex(reached + decoder.keepBytes());
        }
        buffer.readerIndex(reached);
        moreToDecode = buffer.isReadable() && decoder.error() == null && !decoder.isFilling()
                && (batch.isFull() || reached - from >= turnBytes);
    }

    /** Whether decoding can go on with what is there. */
    boolean hasMore() {
        return moreToDecode;
    }

    /** What is wrong with the input, once all that came before it is decoded; nothing is decoded after it. Null: nothing. */
    @Nullable
    String error() {
        return moreToDecode ? null : decoder.error();
    }

    /** No batch points into what was received any more. */
    void executed() {
        batchFrom = Integer.MAX_VALUE;
        decoder.executed();
    }

    // --- keeping

    /**
     * Lets go of what is decoded, and takes in what came late. No batch may point into what was received.
     *
     * @throws io.varve.server.resp.NoBufferException if there is no memory for what has to be kept
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

    /** Lets go of what was received if all of it is decoded; what came late stays apart. No batch may point into what was received. */
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
            // The few bytes of an unfinished request do not hold a large buffer.
            move(rest, kept * 2);
        } else if (buffers.isToMove(rest)) {
            move(rest, roomFor(kept));
        }
    }

    private void move(ByteBuf buffer, int room) {
        ByteBuf target = buffers.forKeeping(room);
        target.writeBytes(buffer);
        buffer.release();
        pending = target;
        batchFrom = Integer.MAX_VALUE;
    }

    /** Drops all of it, and what was received of a large bulk. */
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

    // --- how much it is

    /** Tells other threads how much there is. */
    void measure() {
        bytes = (pending == null ? 0L : pending.readableBytes()) + (late == null ? 0 : late.readableBytes());
        capacityBytes = capacityBytesInTurn();
    }

    /** Bytes received, those among them that the batch in execution points into. On its event loop. */
    long bytesInTurn() {
        ByteBuf buffer = pending;
        return (buffer == null ? 0L : buffer.writerIndex() - Math.min(batchFrom, buffer.readerIndex()))
                + (late == null ? 0 : late.readableBytes());
    }

    /** Bytes of the buffers held for what was received. On its event loop. */
    long capacityBytesInTurn() {
        return (pending == null ? 0L : pending.capacity()) + (late == null ? 0 : late.capacity());
    }

    /** Bytes received and not yet decoded when last measured. By any thread. */
    long bytes() {
        return bytes;
    }

    /** Bytes of the buffers held for what was received, when last measured. By any thread. */
    long capacityBytes() {
        return capacityBytes;
    }
}
