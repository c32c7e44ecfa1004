package io.varve.proxy.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.varve.proxy.resp.OutgoingBytes;
import io.varve.proxy.route.RoutedCall;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a client: decodes its requests, has each handled, and writes the replies in order. Confined to its
 * event loop.
 *
 * <p>It handles no further request while its replies are not read, too many requests are in flight, a request waits for
 * a member, or a command is to finish first. After some more bytes it then stops reading, so that TCP holds the client.
 */
public final class ClientConnection extends ChannelInboundHandlerAdapter implements RoutedCall.Origin {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    /** Undecoded bytes at which reading stops. */
    private static final int MAX_WAITING_BYTES = 64 << 10;
    private static final int FLUSH_BYTES = 64 << 10;

    private final ProxyLoop loop;
    private final Channel channel;
    private final ClientInput input;
    private final OutgoingBytes out;
    private final CommandDispatcher dispatcher;
    private final ClientProfile profile;
    private final ArrayDeque<PendingReply> replies = new ArrayDeque<>();
    private final Runnable flusher = this::flush;
    private @Nullable PendingReply lastExpected;
    /** Bytes of replies that wait for earlier ones. */
    private long waitingReplyBytes;
    private int held;
    private int pauses;
    /** Whether the decoded request waits until all earlier ones have their replies. */
    private boolean isDeferred;
    private boolean isHandling;
    /** Whether requests may wait that a reply lets it handle. */
    private boolean isStalled;
    /** Bytes of replies since the output was last compared with its limit. */
    private long uncheckedBytes;
    private boolean isFlushDue;
    private boolean isInputEnded;
    private boolean isClosing;
    private boolean isClosed;

    public ClientConnection(ProxyLoop loop, Channel channel) {
        this.loop = loop;
        this.channel = channel;
        ClientSettings settings = loop.proxy().settings();
        input = new ClientInput(loop.allocator(), loop.proxy().heap(), settings.maxBulkBytes(),
                settings.maxInputBytes());
        out = new OutgoingBytes(channel);
        profile = new ClientProfile(loop.proxy().nextClientId(), address(channel.remoteAddress()),
                address(channel.localAddress()), settings.password().isEmpty());
        dispatcher = new CommandDispatcher(loop, this);
    }

    private static String address(java.net.@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet && inet.getAddress() != null
                ? inet.getAddress().getHostAddress() + ":" + inet.getPort()
                : String.valueOf(address);
    }

    // --- the client

    @Override
    public long id() {
        return profile.id();
    }

    @Override
    public int protocol() {
        return profile.protocol();
    }

    ClientProfile profile() {
        return profile;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** Whether requests are in flight. */
    boolean hasPendingReplies() {
        return !replies.isEmpty();
    }

    // --- requests

    @Override
    public void channelActive(ChannelHandlerContext context) {
        ProxyState proxy = loop.proxy();
        proxy.acceptedClients.increment();
        proxy.clients().put(id(), this);
        if (proxy.clients().size() > proxy.settings().maxClients()) {
            proxy.refusedClients.increment();
            replyError("ERR max number of clients reached");
            closeAfterReplies();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf received = (ByteBuf) message;
        if (isClosed || isClosing) {
            received.release();
            return;
        }
        if (!input.receive(received)) {
            LOG.warn("Client {} is disconnected: its request exceeds client-query-buffer-limit", profile.address());
            close();
            return;
        }
        handleRequests();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
            isInputEnded = true;
            if (pauses > 0 || profile.isListening()) {
                // It waits for what it will not see, and must take nothing from others.
                close();
            } else {
                handleRequests();
            }
        }
    }

    private boolean mayHandle() {
        return !isClosed && !isClosing && held == 0 && pauses == 0 && !isDeferred && channel.isWritable()
                && replies.size() < loop.proxy().settings().maxPipeline();
    }

    private void handleRequests() {
        if (isHandling) {
            return;
        }
        isHandling = true;
        long handled = 0;
        try {
            while (mayHandle() && input.next(profile.isAuthenticated())) {
                handle();
                handled++;
            }
        } finally {
            isHandling = false;
            loop.proxy().requests.add(handled);
        }
        if (isClosed) {
            input.close();
            return;
        }
        isStalled = !mayHandle();
        if (!isStalled) {
            endOfInput();
        }
        channel.config().setAutoRead(isClosing || mayHandle() || input.waitingBytes() < MAX_WAITING_BYTES);
    }

    private void handle() {
        if (dispatcher.handle(input.request())) {
            input.handled();
        } else {
            isDeferred = true;
            input.request().keep();
        }
    }

    /** All complete requests are handled. */
    private void endOfInput() {
        String error = input.error();
        if (error != null) {
            // First: the reply below wakes the client, which must not come here again.
            isClosing = true;
            replyErrorOfBytes("ERR " + error);
            closeAfterReplies();
        } else if (isInputEnded) {
            closeAfterReplies();
        }
    }

    @Override
    public void held() {
        held++;
    }

    @Override
    public void released() {
        held--;
        wake();
    }

    /** Handles no further request until {@link #resume}. */
    void pause() {
        pauses++;
    }

    void resume() {
        pauses--;
        wake();
    }

    private void wake() {
        if (isClosed || isHandling) {
            return;
        }
        if (isDeferred && replies.isEmpty() && held == 0 && pauses == 0) {
            isDeferred = false;
            isHandling = true;
            try {
                handle();
            } finally {
                isHandling = false;
            }
        }
        handleRequests();
    }

    // --- replies

    /** The place of the next reply. */
    PendingReply expect() {
        PendingReply reply = new PendingReply(this);
        replies.add(reply);
        lastExpected = reply;
        return reply;
    }

    /** The reply that was expected last; null before the first. */
    @Nullable
    PendingReply lastExpected() {
        return lastExpected;
    }

    /** Replies by the proxy itself. */
    void reply(Consumer<ReplyWriter> content) {
        send(loop.own().of(protocol(), content));
    }

    void replyError(String text) {
        reply(writer -> writer.error(text));
    }

    /** As {@link #replyError}; each character stands for a byte of the request. */
    private void replyErrorOfBytes(String text) {
        reply(writer -> writer.errorOfBytes(text));
    }

    /** Sends a reply or a message, which is taken over, after the replies that are expected. */
    void send(ByteBuf reply) {
        if (isClosed) {
            reply.release();
        } else if (replies.isEmpty()) {
            write(reply);
        } else {
            expect().accept(reply);
        }
    }

    /** An expected reply has arrived. */
    void completed(int bytes) {
        waitingReplyBytes += bytes;
        PendingReply next = replies.peek();
        while (next != null && next.isDone()) {
            replies.remove();
            ByteBuf reply = next.take();
            waitingReplyBytes -= reply.readableBytes();
            write(reply);
            next = replies.peek();
        }
        uncheckedBytes += bytes;
        if (uncheckedBytes >= FLUSH_BYTES) {
            uncheckedBytes = 0;
            checkOutput();
        }
        if (isClosing && replies.isEmpty()) {
            closeAfterReplies();
        }
        if (isStalled) {
            wake();
        }
    }

    // The loop runs the flusher in any case.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void write(ByteBuf reply) {
        out.add(reply);
        if (out.unflushedBytes() >= FLUSH_BYTES) {
            flush();
        } else if (!isFlushDue) {
            isFlushDue = true;
            channel.eventLoop().execute(flusher);
        }
    }

    private void flush() {
        isFlushDue = false;
        if (!isClosed) {
            out.flush();
        }
    }

    private void checkOutput() {
        ChannelOutboundBuffer unwritten = channel.unsafe().outboundBuffer();
        long unsent = waitingReplyBytes + out.unflushedBytes()
                + (unwritten == null ? 0 : unwritten.totalPendingWriteBytes());
        if (unsent > loop.proxy().settings().maxOutputBytes()) {
            loop.proxy().slowClients.increment();
            LOG.warn("Client {} is disconnected: {} bytes of replies are unsent", profile.address(), unsent);
            close();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        dispatcher.reading(channel.isWritable());
        if (channel.isWritable()) {
            wake();
        }
    }

    // --- end

    /** Closes the connection once all expected replies are sent. */
    // The listener closes the channel.
    @SuppressWarnings("FutureReturnValueIgnored")
    void closeAfterReplies() {
        isClosing = true;
        if (replies.isEmpty() && !isClosed) {
            flush();
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Closes the connection at once. */
    // Nothing depends on the end of the close.
    @SuppressWarnings("FutureReturnValueIgnored")
    void close() {
        closed();
        channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closed();
    }

    private void closed() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        loop.proxy().clients().remove(id());
        dispatcher.close();
        replies.forEach(PendingReply::drop);
        out.close();
        if (!isHandling) {
            input.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Netty wraps what the encryption says about a client that speaks no TLS, or does not trust the certificate.
        if (!(cause instanceof IOException || cause.getCause() instanceof SSLException)) {
            LOG.error("Client {} is disconnected", profile.address(), cause);
        }
        close();
    }
}
