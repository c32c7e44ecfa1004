package io.varve.proxy.member;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.varve.proxy.map.MemberCredentials;
import io.varve.proxy.resp.MalformedReplyException;
import io.varve.proxy.resp.OutgoingBytes;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.ReplyAssembler;
import io.varve.proxy.resp.Requests;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a member: the handshake, then calls in a pipeline, whose replies come in order. Confined to its event
 * loop.
 *
 * <p>Calls are flushed together: at the end of the event loop's turn, or after the merge window. The member of a full
 * buffer is not written to; {@link MemberLane} then keeps the calls and holds their clients.
 */
final class MemberConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(MemberConnection.class);
    /** Bytes that are flushed before the turn or the window ends. */
    private static final int FLUSH_BYTES = 64 << 10;
    private static final int RESP3 = 3;
    /** Handshake replies that are missing when MULTI, or EXEC, has its own. */
    private static final int AT_MULTI = 3;
    private static final int AT_EXEC = 2;
    private static final String NO_PERMISSION = "NOPERM";
    private static final String ABORTED = "EXECABORT";

    private final MemberLane lane;
    private final MemberSettings settings;
    private final MemberHealth health;
    private final int windowMillis;
    private final ArrayDeque<MemberCall> inFlight = new ArrayDeque<>();
    private final long openedNanos = System.nanoTime();
    private final Runnable flusher = this::flush;
    private final ReplyAssembler.Taker taker = this::reply;
    private @Nullable Channel channel;
    private @Nullable OutgoingBytes out;
    private @Nullable ReplyAssembler assembler;
    private @Nullable Consumer<ByteBuf> frames;
    private int handshakeReplies;
    /** Why the member refuses MULTI; null: it does not. */
    private @Nullable String multiRefusal;
    private boolean isReady;
    /** Whether a connection that ends before it is ready says that the member is ill. */
    private boolean isFault = true;
    private boolean isClosed;
    private boolean isFlushDue;
    /** Requests written since the last flush, and when the first one was. */
    private int unflushed;
    private long writtenNanos;
    /** Of the replies in one buffer: the clock is read once for all of them. */
    private long receivedNanos;
    private int answered;
    private long answeredNanos;
    private long slowestNanos;
    private String why = "the member closed the connection";
    private MemberFailure failure = MemberFailure.LOST;

    MemberConnection(MemberLane lane, MemberSettings settings, MemberHealth health, int windowMillis) {
        this.lane = lane;
        this.settings = settings;
        this.health = health;
        this.windowMillis = windowMillis;
    }

    // Nothing depends on the end of the close.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (isClosed) {
            // While it was being opened.
            context.close();
            return;
        }
        Channel opened = context.channel();
        channel = opened;
        OutgoingBytes output = new OutgoingBytes(opened);
        out = output;
        assembler = new ReplyAssembler(opened.alloc(), settings.maxReplyBytes());
        List<ByteBuf> requests = handshake(opened.alloc());
        handshakeReplies = requests.size();
        requests.forEach(output::add);
        output.flush();
    }

    /**
     * PING proves that the member answers: the system accepts connections for a process that does not run. An empty
     * transaction shows whether it allows MULTI: otherwise it would run the commands of a transaction one by one.
     */
    private List<ByteBuf> handshake(ByteBufAllocator allocator) {
        MemberCredentials credentials = settings.credentials();
        String user = credentials.user().isEmpty() ? "default" : credentials.user();
        List<ByteBuf> requests = new ArrayList<>();
        if (lane.protocol() == RESP3) {
            requests.add(credentials.isNone()
                    ? Requests.of(allocator, "HELLO", "3")
                    : Requests.of(allocator, "HELLO", "3", "AUTH", user, credentials.password()));
        } else if (!credentials.isNone()) {
            requests.add(credentials.user().isEmpty()
                    ? Requests.of(allocator, "AUTH", credentials.password())
                    : Requests.of(allocator, "AUTH", user, credentials.password()));
        }
        if (lane.readsCopies()) {
            requests.add(Requests.of(allocator, "READONLY"));
        } else {
            requests.add(Requests.of(allocator, "MULTI"));
            requests.add(Requests.of(allocator, "EXEC"));
        }
        requests.add(Requests.of(allocator, "PING"));
        return requests;
    }

    private void handshakeReply(ByteBuf reply) {
        try {
            if (Reply.isError(reply)) {
                String text = Reply.of(reply).textOrEmpty();
                boolean mayRecover = text.startsWith("LOADING") || text.startsWith("BUSY")
                        || text.startsWith("MASTERDOWN");
                if (handshakeReplies == AT_MULTI && !lane.readsCopies()) {
                    multiRefusal = mayRecover ? null : text;
                } else if (!mayRecover && !isWithoutMulti(text)) {
                    // A server without RESP3 is well: only its RESP3 clients cannot be served. So is one that
                    // forbids READONLY: only its copies cannot be read.
                    isFault = !text.startsWith("ERR unknown command") && !text.startsWith("NOPROTO")
                            && !(lane.readsCopies() && text.startsWith(NO_PERMISSION));
                    if (!isFault) {
                        health.replied();
                    }
                    close("the member refused the handshake: " + text);
                    return;
                }
            }
        } finally {
            reply.release();
        }
        handshakeReplies--;
        if (handshakeReplies == 0) {
            isReady = true;
            health.connected();
            lane.ready();
        }
    }

    private boolean isWithoutMulti(String error) {
        return handshakeReplies == AT_EXEC && (multiRefusal != null || error.startsWith("ERR EXEC without MULTI"));
    }

    boolean isReady() {
        return isReady && !isClosed;
    }

    /** Whether the member reads fast enough. */
    boolean isWritable() {
        Channel open = channel;
        return open != null && open.isWritable();
    }

    /** Whether calls are in flight. */
    boolean isBusy() {
        return !inFlight.isEmpty();
    }

    /** Passes everything that the member sends to a consumer, which takes it over. */
    void frames(Consumer<ByteBuf> consumer) {
        frames = consumer;
    }

    void reading(boolean isOn) {
        if (channel != null) {
            channel.config().setAutoRead(isOn);
        }
    }

    /** Sends a call; the connection must be ready. */
    void send(MemberCall call) {
        if (call.isTransaction() && multiRefusal != null) {
            call.refused(Unpooled.copiedBuffer(
                    "-" + ABORTED + " Transaction discarded because of: " + multiRefusal + "\r\n",
                    StandardCharsets.UTF_8));
            return;
        }
        inFlight.add(call);
        write(call.request());
        call.sent(writtenNanos);
    }

    /** Sends a request, which is taken over, and whose replies go to the consumer of frames. */
    void sendForFrames(ByteBuf request) {
        write(request);
        request.release();
    }

    // The loop runs the flusher in any case.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void write(ByteBuf request) {
        OutgoingBytes output = java.util.Objects.requireNonNull(out);
        Channel open = java.util.Objects.requireNonNull(channel);
        if (unflushed++ == 0) {
            writtenNanos = System.nanoTime();
        }
        output.addShared(request);
        if (output.unflushedBytes() >= FLUSH_BYTES) {
            flush();
        } else if (!isFlushDue) {
            isFlushDue = true;
            if (windowMillis == 0) {
                open.eventLoop().execute(flusher);
            } else {
                open.eventLoop().schedule(flusher, windowMillis, TimeUnit.MILLISECONDS);
            }
        }
    }

    private void flush() {
        isFlushDue = false;
        if (out != null && !isClosed && out.unflushedBytes() > 0) {
            health.written(unflushed);
            unflushed = 0;
            out.flush();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReplyAssembler replies = assembler;
        if (replies == null || isClosed) {
            ((ByteBuf) message).release();
        } else {
            receivedNanos = System.nanoTime();
            replies.receive((ByteBuf) message, taker);
            if (answered > 0) {
                health.answered(answeredNanos / answered, slowestNanos);
                answered = 0;
                answeredNanos = 0;
                slowestNanos = 0;
            }
        }
    }

    private void measure(MemberCall call, ByteBuf reply) {
        if (call.isTimed()) {
            long nanos = receivedNanos - call.sentNanos();
            answered++;
            answeredNanos += nanos;
            slowestNanos = Math.max(slowestNanos, nanos);
        } else {
            health.replied();
        }
        if (Reply.isError(reply)) {
            health.errorReply();
        }
    }

    private void reply(ByteBuf reply) {
        if (isClosed) {
            reply.release();
            return;
        }
        if (handshakeReplies > 0) {
            handshakeReply(reply);
            return;
        }
        Consumer<ByteBuf> consumer = frames;
        if (consumer != null) {
            consumer.accept(reply);
            return;
        }
        MemberCall call = inFlight.peek();
        boolean isPush = reply.getByte(reply.readerIndex()) == '>';
        if (call == null || isPush) {
            reply.release();
            if (!isPush) {
                close("the member sent a reply without a request");
            }
            return;
        }
        if (!call.takesLeading(reply)) {
            inFlight.remove();
            measure(call, reply);
            noteRefusedMulti(call, reply);
            call.replied(reply);
            lane.answered();
        }
    }

    /** The permissions of the member's user may change after the handshake. */
    private void noteRefusedMulti(MemberCall call, ByteBuf reply) {
        String error = call.isTransaction() && Reply.isError(reply) ? call.leadingError() : null;
        if (error != null && error.startsWith(NO_PERMISSION) && !Reply.of(reply).textOrEmpty().startsWith(ABORTED)) {
            multiRefusal = error;
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        lane.drain();
    }

    /** Closes the connection if the oldest call, or the handshake, takes too long. */
    void check(long now) {
        MemberCall oldest = inFlight.peek();
        if (!isReady && now - openedNanos > TimeUnit.MILLISECONDS.toNanos(settings.connectTimeoutMillis())) {
            health.timedOut();
            close("no answer to the handshake in " + settings.connectTimeoutMillis() + " ms");
        } else if (oldest != null
                && oldest.isOverdue(now, TimeUnit.MILLISECONDS.toNanos(settings.replyTimeoutMillis()))) {
            health.timedOut();
            failure = MemberFailure.TIMED_OUT;
            close("no reply in " + settings.replyTimeoutMillis() + " ms");
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closed();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // So does TLS report that it does not trust the member, or is not trusted.
        Throwable reason = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (!(reason instanceof IOException || reason instanceof MalformedReplyException)) {
            LOG.error("Connection to {} fails", lane.endpoint(), reason);
        }
        close(String.valueOf(reason.getMessage()));
    }

    /** The connection could not be opened. */
    void refused(Throwable cause) {
        why = String.valueOf(cause.getMessage());
        closed();
    }

    // Nothing depends on the end of the close.
    @SuppressWarnings("FutureReturnValueIgnored")
    void close(String reason) {
        if (!isClosed) {
            why = reason;
            closed();
        }
        if (channel != null) {
            channel.close();
        }
    }

    private void closed() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (out != null) {
            out.close();
        }
        if (assembler != null) {
            assembler.close();
        }
        List<MemberCall> calls = List.copyOf(inFlight);
        inFlight.clear();
        lane.closed(isReady, isFault && !isReady || !calls.isEmpty(), calls, failure, why);
    }
}
