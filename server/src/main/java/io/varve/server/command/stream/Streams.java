package io.varve.server.command.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;

/** Reusable state of stream commands. Confined to its event loop; reused from command to command. */
public final class Streams {
    private static final CommandScratch<Streams> SCRATCH = CommandScratch.madeBy(_ -> new Streams());

    private final StreamValue stream = new StreamValue();
    private final StreamId id = new StreamId();
    private final StreamId otherId = new StreamId();
    private final StreamTrimRequest trimRequest = new StreamTrimRequest();
    private final ArgumentFields fields = new ArgumentFields();
    private final StreamReadRequest readRequest = new StreamReadRequest();
    private final ByteBuffer textBuffer = ByteBuffer.allocateDirect(StreamId.MAX_TEXT_BYTES);
    private final long text = MemorySegment.ofBuffer(textBuffer).address();

    /** The instance of a context. */
    public static Streams of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** The command's stream. */
    public StreamValue stream() {
        return stream;
    }

    /** An ID that the command parses. */
    public StreamId id() {
        return id;
    }

    /** Another ID that the command parses. */
    public StreamId otherId() {
        return otherId;
    }

    /** The parsed trim options of a command. */
    StreamTrimRequest trimRequest() {
        return trimRequest;
    }

    /** The fields among the command's arguments. */
    ArgumentFields fields() {
        return fields;
    }

    /** The parsed options of XREAD or XREADGROUP. */
    public StreamReadRequest readRequest() {
        return readRequest;
    }

    /** Memory for the text of an ID, see {@link StreamId#put}. */
    public long text() {
        return text;
    }
}
