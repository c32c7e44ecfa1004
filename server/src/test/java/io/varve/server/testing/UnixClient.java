package io.varve.server.testing;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A client that connects through a Unix domain socket. Confined to one thread. */
public final class UnixClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;

    private final SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    private final Selector readable = Selector.open();

    public UnixClient(Path path) throws IOException {
        try {
            channel.connect(UnixDomainSocketAddress.of(path));
            channel.configureBlocking(false);
            channel.register(readable, SelectionKey.OP_READ);
        } catch (IOException refused) {
            close();
            throw refused;
        }
    }

    /** Sends a line and reads one simple or bulk reply, as it comes. */
    public String execute(String line) throws IOException {
        channel.write(ByteBuffer.wrap((line + "\r\n").getBytes(StandardCharsets.UTF_8)));
        String head = line();
        if (!head.startsWith("$") || head.equals("$-1")) {
            return head;
        }
        ByteBuffer bulk = ByteBuffer.allocate(Integer.parseInt(head.substring(1)) + 2);
        while (bulk.hasRemaining()) {
            read(bulk);
        }
        return new String(bulk.array(), 0, bulk.position() - 2, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (line.isEmpty() || line.charAt(line.length() - 1) != '\n') {
            read(one.clear());
            line.append((char) one.get(0));
        }
        return line.substring(0, line.length() - 2);
    }

    /** Reads what there is of it. */
    private void read(ByteBuffer into) throws IOException {
        if (readable.select(TIMEOUT_MILLIS) == 0) {
            throw new SocketTimeoutException();
        }
        readable.selectedKeys().clear();
        if (channel.read(into) < 0) {
            throw new EOFException();
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
        readable.close();
    }
}
