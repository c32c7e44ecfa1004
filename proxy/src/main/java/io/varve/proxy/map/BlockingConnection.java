package io.varve.proxy.map;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.proxy.resp.Reply;
import io.varve.proxy.resp.ReplyScanner;
import io.varve.proxy.resp.Requests;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a server for a few requests, one after the other, by a thread that may wait. Confined to that thread.
 */
public final class BlockingConnection implements AutoCloseable {
    private static final int READ_BYTES = 16 << 10;

    private final Socket connection = new Socket();
    /** TLS over the connection, or the connection itself. */
    private final Socket socket;
    private final InputStream in;
    private final ReplyScanner scanner = new ReplyScanner();
    private final ByteBuf received = Unpooled.buffer(READ_BYTES);

    /**
     * @param timeoutMillis for the connection, and for each reply
     * @param tls null: without TLS
     */
    public BlockingConnection(Endpoint endpoint, int timeoutMillis, @Nullable TlsContext tls) throws IOException {
        try {
            connection.connect(new InetSocketAddress(endpoint.host(), endpoint.port()), timeoutMillis);
            connection.setSoTimeout(timeoutMillis);
            connection.setTcpNoDelay(true);
            socket = tls == null ? connection : tls.client(connection, endpoint.host(), endpoint.port());
            in = socket.getInputStream();
        } catch (IOException failed) {
            connection.close();
            throw failed;
        }
    }

    /** Authenticates if there is a password. */
    public void authenticate(MemberCredentials credentials) throws IOException {
        if (credentials.isNone()) {
            return;
        }
        Reply reply = credentials.user().isEmpty()
                ? call("AUTH", credentials.password())
                : call("AUTH", credentials.user(), credentials.password());
        if (reply.isError()) {
            throw new IOException(reply.textOrEmpty());
        }
    }

    /** Sends a request and waits for its reply. */
    public Reply call(String... words) throws IOException {
        send(words);
        return read();
    }

    /** Sends a request. */
    public void send(String... words) throws IOException {
        ByteBuf request = Requests.of(UnpooledByteBufAllocator.DEFAULT, words);
        try {
            byte[] bytes = new byte[request.readableBytes()];
            request.readBytes(bytes);
            sendBytes(bytes);
        } finally {
            request.release();
        }
    }

    /** Sends bytes as they are. */
    public void sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Waits for the next reply. */
    public Reply read() throws IOException {
        int scanned = received.readerIndex();
        while (true) {
            int end = scanner.scan(received, scanned, received.writerIndex());
            if (end >= 0) {
                Reply reply = Reply.of(received.slice(received.readerIndex(), end - received.readerIndex()));
                received.readerIndex(end).discardReadBytes();
                return reply;
            }
            scanned = received.writerIndex();
            byte[] more = new byte[READ_BYTES];
            int count = in.read(more);
            if (count < 0) {
                throw new EOFException("the server has closed the connection");
            }
            received.writeBytes(more, 0, count);
        }
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
