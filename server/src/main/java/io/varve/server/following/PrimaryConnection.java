package io.varve.server.following;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

import io.varve.server.clustering.ClusterState;
import io.varve.server.config.ServerConfig;
import io.varve.server.system.FailureReason;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to a primary: requests of the handshake, the snapshot, acknowledgements. Confined to one thread,
 * except {@link #acknowledge}, {@link #keepAlive} and {@link #close}.
 */
final class PrimaryConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PrimaryConnection.class);
    private static final int MAX_LINE_BYTES = 1 << 10;
    private static final int READ_BYTES = 64 << 10;
    private static final String MARKED = "$EOF:";
    private static final int MARK_BYTES = 40;
    private static final byte[] KEEP_ALIVE = {'\n'};

    private final Socket connection = new Socket();
    /** TLS over the connection, or the connection itself. */
    private Socket socket = connection;
    private InputStream input = InputStream.nullInputStream();
    private OutputStream output = OutputStream.nullOutputStream();
    /** Guards the output. */
    private final Object outputLock = new Object();
    private final byte[] one = new byte[1];

    /**
     * Connects. {@link #close} ends that, too.
     *
     * @param timeoutMillis for connecting, and for each read
     */
    void connect(String host, int port, ServerConfig config, int timeoutMillis) throws IOException {
        connection.connect(new InetSocketAddress(host, port), timeoutMillis);
        connection.setTcpNoDelay(true);
        connection.setKeepAlive(true);
        connection.setSoTimeout(timeoutMillis);
        if (config.bool("tls-replication")) {
            socket = TlsContext.of(config).client(connection, host, port);
        }
        input = socket.getInputStream();
        synchronized (outputLock) {
            output = new BufferedOutputStream(socket.getOutputStream());
        }
    }

    InputStream input() {
        return input;
    }

    // --- requests

    /** Sends a command, and returns the line of its reply. */
    String ask(String... command) throws IOException {
        send(command);
        return readLine();
    }

    private void send(String... command) throws IOException {
        StringBuilder text = new StringBuilder("*").append(command.length).append("\r\n");
        for (String argument : command) {
            text.append('$').append(argument.getBytes(StandardCharsets.UTF_8).length).append("\r\n").append(argument)
                    .append("\r\n");
        }
        write(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void write(byte[] bytes) throws IOException {
        synchronized (outputLock) {
            output.write(bytes);
            output.flush();
        }
    }

    /** Tells the primary how far this replica is. */
    void acknowledge(long offset) throws IOException {
        send("REPLCONF", "ACK", Long.toString(offset));
    }

    /** Tells the primary how far this replica is, and how much of that is on its disk. */
    void acknowledge(long offset, long onDisk) throws IOException {
        send("REPLCONF", "ACK", Long.toString(offset), "FACK", Long.toString(onDisk));
    }

    /** A sign of life while the snapshot is being loaded. */
    void keepAlive() throws IOException {
        write(KEEP_ALIVE);
    }

    /** An offset in an answer. */
    static long offset(String text) throws IOException {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException none) {
            throw new IOException("the primary has sent " + text + ", where an offset was expected", none);
        }
    }

    /** As {@link #keepAlive}. A primary that has gone may continue from the data that is being loaded. */
    boolean tryToKeepAlive() {
        try {
            keepAlive();
            return true;
        } catch (IOException lost) {
            LOG.warn("The primary has gone while its data is loaded: {}", FailureReason.of(lost));
            return false;
        }
    }

    /** Reads a line; empty ones are signs of life, and are passed over. */
    String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            int b = readByte();
            if (b == '\n') {
                String text = line.toString(StandardCharsets.UTF_8).strip();
                if (!text.isEmpty()) {
                    return text;
                }
                line.reset();
            } else if (line.size() == MAX_LINE_BYTES) {
                throw new IOException("the primary has sent a line of more than " + MAX_LINE_BYTES + " bytes");
            } else {
                line.write(b);
            }
        }
    }

    private int readByte() throws IOException {
        if (input.read(one) < 0) {
            throw new EOFException("the primary has closed the connection");
        }
        return one[0] & 0xff;
    }

    // --- the snapshot

    /**
     * Receives a snapshot into a file.
     *
     * @param length receives its length before it comes, or 0 if that is not known
     * @param progress receives how many bytes have come so far
     */
    void receive(Path file, LongConsumer length, LongConsumer progress) throws IOException {
        String head = readLine();
        if (head.startsWith("-")) {
            throw new IOException("the primary cannot send a snapshot: " + head.substring(1));
        }
        try (OutputStream to = Files.newOutputStream(file)) {
            if (head.startsWith(MARKED) && head.length() == MARKED.length() + MARK_BYTES) {
                length.accept(0);
                receiveToMark(to, head.substring(MARKED.length()).getBytes(StandardCharsets.US_ASCII), progress);
            } else {
                long bytes = length(head);
                length.accept(bytes);
                receive(to, bytes, progress);
            }
        }
    }

    private static long length(String head) throws IOException {
        try {
            long bytes = head.startsWith("$") ? Long.parseLong(head.substring(1)) : -1;
            if (bytes >= 0) {
                return bytes;
            }
        } catch (NumberFormatException none) {
            // The exception below says what was sent.
        }
        throw new IOException("the primary has sent \"" + head + "\", where a snapshot was expected");
    }

    private void receive(OutputStream to, long length, LongConsumer progress) throws IOException {
        byte[] bytes = new byte[READ_BYTES];
        long left = length;
        while (left > 0) {
            int count = input.read(bytes, 0, (int) Math.min(left, bytes.length));
            requireMore(count);
            to.write(bytes, 0, count);
            left -= count;
            progress.accept(length - left);
        }
    }

    private static void requireMore(int count) throws EOFException {
        if (count < 0) {
            throw new EOFException("the primary has closed the connection while it sent a snapshot");
        }
    }

    /** Nothing follows the mark before this replica has acknowledged the snapshot. */
    private void receiveToMark(OutputStream to, byte[] mark, LongConsumer progress) throws IOException {
        byte[] bytes = new byte[READ_BYTES + mark.length];
        int kept = 0;
        long received = 0;
        while (true) {
            int count = input.read(bytes, kept, READ_BYTES);
            requireMore(count);
            received += count;
            progress.accept(received);
            int length = kept + count;
            if (length >= mark.length && Arrays.equals(bytes, length - mark.length, length, mark, 0, mark.length)) {
                to.write(bytes, 0, length - mark.length);
                return;
            }
            // The last bytes may be the beginning of the mark.
            kept = Math.min(length, mark.length);
            to.write(bytes, 0, length - kept);
            System.arraycopy(bytes, length - kept, bytes, 0, kept);
        }
    }

    // --- the handshake

    /**
     * Introduces this replica, before it asks for the stream.
     *
     * @param config names user and password, and the address to announce
     * @param port at which this server listens
     * @param cluster null if this server is no member of a cluster
     */
    void introduce(ServerConfig config, int port, String version, @Nullable ClusterState cluster) throws IOException {
        String pong = ask("PING");
        if (!pong.startsWith("+") && !pong.startsWith("-NOAUTH") && !pong.startsWith("-NOPERM")
                && !pong.startsWith("-ERR operation not permitted")) {
            throw new IOException("the primary refuses PING: " + pong.substring(1));
        }
        authenticate(config);
        long announced = config.number("replica-announce-port");
        require(ask("REPLCONF", "listening-port", Long.toString(announced == 0 ? port : announced)));
        String address = config.text("replica-announce-ip");
        if (!address.isEmpty()) {
            require(ask("REPLCONF", "ip-address", address));
        }
        require(ask("REPLCONF", "capa", "eof", "capa", "psync2"));
        // Old servers do not know it.
        ask("REPLCONF", "version", version);
        if (cluster != null && cluster.isControlled()) {
            require(ask("REPLCONF", "varve-member", cluster.view().me().id(), "varve-generation",
                    Long.toString(cluster.generation())));
        }
    }

    /** Sends user and password, if the settings have them. */
    void authenticate(ServerConfig config) throws IOException {
        if (config.text("masterauth").isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("AUTH"));
        if (!config.text("masteruser").isEmpty()) {
            command.add(config.text("masteruser"));
        }
        command.add(config.text("masterauth"));
        String answer = ask(command.toArray(new String[0]));
        if (!answer.startsWith("+")) {
            throw new IOException("the primary does not accept masterauth: " + answer.substring(1));
        }
    }

    private static void require(String answer) throws IOException {
        if (answer.startsWith("-NOAUTH")) {
            throw new IOException("the primary requires a password: set masterauth, and masteruser for an ACL user");
        }
        // Redis ignores other errors, too: the primary may be older.
        if (answer.startsWith("-NOPERM")) {
            throw new IOException("the primary refuses the user: " + answer.substring(1));
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (IOException unsent) {
            // It is closed nevertheless, and nothing of value was unsent.
            return;
        }
    }
}
