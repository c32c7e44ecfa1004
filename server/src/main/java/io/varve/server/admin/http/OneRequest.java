package io.varve.server.admin.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.varve.server.admin.metrics.Health;
import io.varve.server.admin.metrics.Metrics;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP connection that serves one request and sends one response. Confined to its event loop.
 *
 * <p>With one request, a client that sends many and reads no response takes no more memory than any other. The client
 * has {@link #RECEIVE_SECONDS} to send the request, and {@link #SEND_SECONDS} to read the response. After the response
 * the server drops further input until the client closes: a reset would lose the response.
 */
// The channel's close shows the result of a write: no caller needs the futures.
@SuppressWarnings("FutureReturnValueIgnored")
final class OneRequest extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(OneRequest.class);

    /** A request that is not complete within this time, in seconds, is refused. */
    static final int RECEIVE_SECONDS = 10;
    /** A connection whose client has not read the response within this time, in seconds, is closed. */
    static final int SEND_SECONDS = 10;
    /** After the response, input is dropped for at most this time and this number of bytes. */
    static final int LINGER_SECONDS = 2;
    private static final int LINGER_BYTES = 1 << 20;
    /** A longer first line, or larger headers in total, are refused. */
    private static final int MAX_LINE_BYTES = 2 << 10;
    private static final int MAX_HEADER_BYTES = 8 << 10;
    /** No supported request has a body. */
    static final int MAX_BODY_BYTES = 8 << 10;

    private static final String PLAIN = "text/plain; charset=utf-8";
    /** Large enough for a scrape of a server in use. */
    private static final int METRICS_BYTES = 128 << 10;

    private final Metrics metrics;
    private final Health health;
    private @Nullable HttpRequest request;
    private @Nullable ScheduledFuture<?> deadline;
    private long bodyBytes;
    private boolean answered;
    private long droppedBytes;

    private OneRequest(Metrics metrics, Health health) {
        this.metrics = metrics;
        this.health = health;
    }

    /** Sets up a new channel to serve one request. */
    static void serve(ChannelPipeline pipeline, Metrics metrics, Health health) {
        HttpDecoderConfig limits = new HttpDecoderConfig().setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES).setMaxChunkSize(MAX_HEADER_BYTES);
        pipeline.addLast(new HttpRequestDecoder(limits), new HttpResponseEncoder(), new OneRequest(metrics, health));
    }

    // --- time

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        within(ctx, RECEIVE_SECONDS, () -> answer(ctx, HttpResponseStatus.REQUEST_TIMEOUT));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        endDeadline();
    }

    private void within(ChannelHandlerContext ctx, int seconds, Runnable late) {
        endDeadline();
        deadline = ctx.executor().schedule(late, seconds, TimeUnit.SECONDS);
    }

    private void endDeadline() {
        ScheduledFuture<?> running = deadline;
        if (running != null) {
            running.cancel(false);
            deadline = null;
        }
    }

    // --- the request

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (answered) {
                drop(ctx, message);
            } else {
                receive(ctx, (HttpObject) message);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void receive(ChannelHandlerContext ctx, HttpObject part) {
        DecoderResult decoded = part.decoderResult();
        if (decoded.isFailure()) {
            answer(ctx, decoded.cause() instanceof TooLongFrameException
                    ? HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE
                    : HttpResponseStatus.BAD_REQUEST);
            return;
        }
        if (part instanceof HttpRequest head) {
            request = head;
            if (HttpUtil.getContentLength(head, 0L) > MAX_BODY_BYTES) {
                answer(ctx, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
                return;
            }
            if (HttpUtil.is100ContinueExpected(head)) {
                // The client waits for permission to send its body, which no request needs.
                answer(ctx, head);
                return;
            }
        }
        if (part instanceof HttpContent content) {
            bodyBytes += content.content().readableBytes();
            if (bodyBytes > MAX_BODY_BYTES) {
                answer(ctx, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
            } else if (content instanceof LastHttpContent) {
                answer(ctx, java.util.Objects.requireNonNull(request));
            }
        }
    }

    private void drop(ChannelHandlerContext ctx, Object message) {
        droppedBytes += switch (message) {
            case ByteBuf bytes -> bytes.readableBytes();
            case HttpContent content -> content.content().readableBytes();
            default -> 0;
        };
        if (droppedBytes > LINGER_BYTES) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("A connection to the metrics server failed: {}", cause.toString());
        } else {
            LOG.error("A connection to the metrics server is closed because of an unexpected error", cause);
        }
        ctx.close();
    }

    // --- the response

    private void answer(ChannelHandlerContext ctx, HttpRequest requested) {
        String path = pathOf(requested.uri());
        boolean isKnown = path.equals("/metrics") || path.equals("/health/live") || path.equals("/health/ready");
        if (!isHttp(requested)) {
            answer(ctx, HttpResponseStatus.BAD_REQUEST);
        } else if (!isKnown) {
            answer(ctx, HttpResponseStatus.NOT_FOUND);
        } else if (!requested.method().equals(HttpMethod.GET) && !requested.method().equals(HttpMethod.HEAD)) {
            answer(ctx, HttpResponseStatus.METHOD_NOT_ALLOWED);
        } else {
            switch (path) {
                case "/metrics" -> metrics(ctx);
                case "/health/live" -> answer(ctx, HttpResponseStatus.OK, "live\n");
                default -> ready(ctx);
            }
        }
    }

    private static boolean isHttp(HttpRequest requested) {
        HttpVersion version = requested.protocolVersion();
        return version.equals(HttpVersion.HTTP_1_0)
                || version.equals(HttpVersion.HTTP_1_1) && requested.headers().contains(HttpHeaderNames.HOST);
    }

    private static String pathOf(String uri) {
        int query = uri.indexOf('?');
        return query < 0 ? uri : uri.substring(0, query);
    }

    private void metrics(ChannelHandlerContext ctx) {
        ByteBuf body = ctx.alloc().directBuffer(METRICS_BYTES);
        try {
            metrics.scrape(new ByteBufOutputStream(body));
        } catch (IOException | RuntimeException failed) {
            body.release();
            LOG.error("Cannot collect the metrics", failed);
            answer(ctx, HttpResponseStatus.INTERNAL_SERVER_ERROR);
            return;
        }
        send(ctx, HttpResponseStatus.OK, Metrics.CONTENT_TYPE, body);
    }

    private void ready(ChannelHandlerContext ctx) {
        Health.State state = health.state();
        answer(ctx, state == Health.State.READY ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE,
                state.name().toLowerCase(java.util.Locale.ROOT) + "\n");
    }

    private void answer(ChannelHandlerContext ctx, HttpResponseStatus status) {
        answer(ctx, status, status.code() + " " + status.reasonPhrase() + "\n");
    }

    private void answer(ChannelHandlerContext ctx, HttpResponseStatus status, String text) {
        send(ctx, status, PLAIN, ByteBufUtil.encodeString(ctx.alloc(), java.nio.CharBuffer.wrap(text),
                StandardCharsets.UTF_8));
    }

    private void send(ChannelHandlerContext ctx, HttpResponseStatus status, String contentType, ByteBuf body) {
        answered = true;
        // Further input is dropped without decoding.
        ctx.pipeline().remove(HttpRequestDecoder.class);
        int length = body.readableBytes();
        if (request != null && request.method().equals(HttpMethod.HEAD)) {
            body.clear();
        }
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .set(HttpHeaderNames.CONTENT_LENGTH, length)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                .set("x-content-type-options", "nosniff");
        if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
            response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
        }
        within(ctx, SEND_SECONDS, ctx::close);
        ChannelFuture sent = ctx.writeAndFlush(response);
        sent.addListener(_ -> linger(ctx));
    }

    /** Closes the output, and waits briefly for the client to close. */
    private void linger(ChannelHandlerContext ctx) {
        if (!ctx.channel().isActive()) {
            return;
        }
        within(ctx, LINGER_SECONDS, ctx::close);
        if (ctx.channel() instanceof DuplexChannel duplex) {
            duplex.shutdownOutput();
        }
    }
}
