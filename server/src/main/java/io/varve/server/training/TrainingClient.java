package io.varve.server.training;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.SocketFactory;

/**
 * Blocking connections that get batches of commands in turn and skip the replies. Confined to one thread.
 *
 * <p>A connection gets its next batch after the replies to the last one, so up to as many batches are under way as
 * there are connections. The event loop then finds several ready connections at once, as in production.
 */
public final class TrainingClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int BUFFER_BYTES = 16 << 10;

    /** A connection, and the number of its replies that were not read yet. */
    private static final class Connection {
        private final Socket socket;
        private final InputStream in;
        private int expected;

        Connection(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        }
    }

    private final List<Connection> connections = new ArrayList<>();
    private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
    private int pendingCommands;
    private int next;
    private long errors;
    private String firstError = "";

    /** @param factory makes the sockets: plain ones, or encrypted ones */
    public TrainingClient(SocketFactory factory, int port, int count) throws IOException {
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Connection(factory.createSocket(InetAddress.getLoopbackAddress(), port)));
            }
        } catch (IOException refused) {
            close();
            throw refused;
        }
    }

    /** Adds a command to the next batch. */
    public void queue(String... words) {
        text("*" + words.length + "\r\n");
        for (String word : words) {
            text("$" + word.length() + "\r\n" + word + "\r\n");
        }
        pendingCommands++;
    }

    /** Adds an inline command to the next batch. */
    public void queueInline(String line) {
        text(line + "\r\n");
        pendingCommands++;
    }

    private void text(String text) {
        pending.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Sends the batch on the next connection, after the replies to its last batch. */
    public void flush() throws IOException {
        if (pendingCommands == 0) {
            return;
        }
        Connection connection = connections.get(next);
        next = (next + 1) % connections.size();
        skipReplies(connection);
        pending.writeTo(connection.socket.getOutputStream());
        connection.expected = pendingCommands;
        pending.reset();
        pendingCommands = 0;
    }

    /** Sends the batch, and reads all replies. */
    public void finish() throws IOException {
        flush();
        for (Connection connection : connections) {
            skipReplies(connection);
        }
    }

    /** Runs a command on each connection. */
    public void onEach(String... words) throws IOException {
        finish();
        for (int i = 0; i < connections.size(); i++) {
            queue(words);
            flush();
        }
        finish();
    }

    /** Reads messages that are no replies to commands, such as those of channels. For a client of one connection. */
    public void receive(int messages) throws IOException {
        finish();
        connections.getFirst().expected = messages;
        finish();
    }

    /** Runs a command. @return the text of its reply, each character a byte */
    public String call(String... words) throws IOException {
        finish();
        queue(words);
        flush();
        Connection connection = connections.get(Math.floorMod(next - 1, connections.size()));
        connection.expected = 0;
        int type = connection.in.read();
        String line = readLine(connection.in);
        return type == '$' ? readBulk(connection.in, Integer.parseInt(line)) : line;
    }

    /** Sends a command that ends the connection instead of a reply. */
    public void send(String... words) throws IOException {
        queue(words);
        flush();
    }

    /** Number of error replies. */
    public long errors() {
        return errors;
    }

    /** The text of the first error reply; empty if there was none. */
    public String firstError() {
        return firstError;
    }

    private void skipReplies(Connection connection) throws IOException {
        for (; connection.expected > 0; connection.expected--) {
            skipReply(connection.in);
        }
    }

    private void skipReply(InputStream in) throws IOException {
        int type = in.read();
        if (type < 0) {
            throw new EOFException("the server closed the connection");
        }
        String line = readLine(in);
        switch (type) {
            case '$', '=' -> {
                long length = Long.parseLong(line);
                in.skipNBytes(length < 0 ? 0 : length + 2);
            }
            case '*', '~', '>' -> skipReplies(in, Long.parseLong(line));
            case '%' -> skipReplies(in, 2 * Long.parseLong(line));
            case '-' -> {
                if (errors++ == 0) {
                    firstError = line;
                }
            }
            default -> {
                // The line is the whole reply.
            }
        }
    }

    private void skipReplies(InputStream in, long count) throws IOException {
        for (long i = 0; i < count; i++) {
            skipReply(in);
        }
    }

    private static String readBulk(InputStream in, int length) throws IOException {
        if (length < 0) {
            throw new IOException("the reply is null");
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException("the server closed the connection");
        }
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        int read = in.read();
        while (read != '\r' && read >= 0) {
            line.append((char) read);
            read = in.read();
        }
        in.skipNBytes(read < 0 ? 0 : 1);
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.socket.close();
        }
    }
}
