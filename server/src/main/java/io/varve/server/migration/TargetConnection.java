package io.varve.server.migration;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Ticker;
import io.varve.server.command.dump.KeyExport;
import io.varve.server.config.ServerConfig;
import io.varve.server.tls.TlsContext;

/**
 * The connection to a member that receives slots or copies. Confined to its thread, except {@link #closeIfLate} and
 * {@link #close}.
 *
 * <p>Commands that store or delete keys are pipelined, with a bounded number of bytes for which there is no reply yet.
 */
final class TargetConnection implements AutoCloseable {
    /** How long the other member may take for a reply, or to receive what is being sent. */
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final long MAX_UNANSWERED_BYTES = 1 << 20;
    private static final int MAX_UNANSWERED = 1_000;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int MAX_LINE_BYTES = 64 << 10;
    /** Longer than all replies that are read as a whole, but lists of keys. */
    private static final int MAX_BULK_BYTES = 512 << 20;
    private static final byte[] LINE_END = {'\r', '\n'};

    private final Socket connection = new Socket();
    /** TLS over the connection, or the connection itself. */
    private Socket socket = connection;
    private InputStream in = InputStream.nullInputStream();
    private OutputStream out = OutputStream.nullOutputStream();
    private final byte[] chunk = new byte[CHUNK_BYTES];
    /** The bytes of each command without a reply. */
    private final Deque<Long> unanswered = new ArrayDeque<>();
    private long unansweredBytes;
    private long written;
    private volatile boolean isResting;
    /** When the connection is closed unless it has made progress; a value of {@link Ticker#nanoTime}. */
    private volatile long deadlineNanos;
    private final Ticker clock;

    TargetConnection(Ticker clock) {
        this.clock = clock;
        progress();
    }

    void connect(String host, int port, ServerConfig config) throws IOException {
        connection.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
        connection.setTcpNoDelay(true);
        connection.setSoTimeout(TIMEOUT_MILLIS);
        if (config.bool("tls-replication")) {
            socket = TlsContext.of(config).client(connection, host, port);
        }
        in = new BufferedInputStream(socket.getInputStream());
        out = new BufferedOutputStream(socket.getOutputStream(), CHUNK_BYTES);
        authenticate(config);
    }

    private void authenticate(ServerConfig config) throws IOException {
        if (config.text("masterauth").isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("AUTH"));
        if (!config.text("masteruser").isEmpty()) {
            command.add(config.text("masteruser"));
        }
        command.add(config.text("masterauth"));
        line(command.toArray(String[]::new));
    }

    // --- single commands

    /** Sends a command, and returns the line of its reply. */
    String line(String... command) throws IOException {
        send(command);
        String reply = readLine();
        if (reply.startsWith("-")) {
            throw new TransferException("the receiver replies to " + command[0] + ": " + reply.substring(1));
        }
        return reply;
    }

    /** Sends a command, and returns the text of its reply. */
    String text(String... command) throws IOException {
        String head = line(command);
        return new String(readBulk(head), StandardCharsets.ISO_8859_1);
    }

    /** Sends a command, and returns the texts of its reply. */
    List<byte[]> texts(String... command) throws IOException {
        int count = number(line(command), '*');
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(readBulk(readLine()));
        }
        return all;
    }

    private void send(String... command) throws IOException {
        drain();
        head('*', command.length);
        for (String word : command) {
            argument(word.getBytes(StandardCharsets.UTF_8));
        }
        out.flush();
    }

    // --- copies of hot keys

    /**
     * Has a copy stored of the key that was exported last.
     *
     * @return the reply, which may be an error
     */
    String copy(byte[] key, String sourceId, KeyExport value) throws IOException {
        head('*', 5);
        argument("VARVE.COPY");
        argument(key);
        argument(sourceId);
        argument(Long.toString(value.expireAtMillis()));
        payload(value);
        out.flush();
        return readLine();
    }

    /** Has a copy deleted. */
    void deleteCopy(byte[] key, String sourceId) throws IOException {
        head('*', 3);
        argument("VARVE.UNCOPY");
        argument(key);
        argument(sourceId);
        out.flush();
        String reply = readLine();
        if (reply.startsWith("-")) {
            throw new TransferException("the holder does not delete a copy: " + reply.substring(1));
        }
    }

    private void payload(KeyExport value) throws IOException {
        head('$', value.length());
        for (int at = 0; at < value.length(); at += CHUNK_BYTES) {
            int count = Math.min(CHUNK_BYTES, value.length() - at);
            value.get(at, chunk, count);
            write(chunk, count);
        }
        write(LINE_END, LINE_END.length);
    }

    // --- pipelined commands

    /** Has the key stored that was exported last. */
    void restore(byte[] key, KeyExport value) throws IOException {
        long before = written;
        head('*', 6);
        argument("RESTORE-ASKING");
        argument(key);
        argument(Long.toString(value.expireAtMillis()));
        payload(value);
        argument("REPLACE");
        argument("ABSTTL");
        expectReply(written - before);
    }

    /** Has a key deleted. */
    void delete(byte[] key) throws IOException {
        ask("DEL", key);
    }

    /** Has a key pinned, or its pin ended. */
    void pin(byte[] key, boolean isPinned) throws IOException {
        ask(isPinned ? "VARVE.PIN" : "VARVE.UNPIN", key);
    }

    private void ask(String command, byte[] key) throws IOException {
        head('*', 1);
        argument("ASKING");
        expectReply(0);
        long before = written;
        head('*', 2);
        argument(command);
        argument(key);
        expectReply(written - before);
    }

    private void expectReply(long bytes) throws IOException {
        unanswered.add(bytes);
        unansweredBytes += bytes;
        if (unansweredBytes > MAX_UNANSWERED_BYTES || unanswered.size() > MAX_UNANSWERED) {
            out.flush();
            while (unansweredBytes > MAX_UNANSWERED_BYTES / 2 || unanswered.size() > MAX_UNANSWERED / 2) {
                readAnswer();
            }
        }
    }

    /** Sends what is buffered. */
    void flush() throws IOException {
        out.flush();
    }

    /** Waits for the replies to all commands. */
    void drain() throws IOException {
        if (!unanswered.isEmpty()) {
            out.flush();
            while (!unanswered.isEmpty()) {
                readAnswer();
            }
        }
    }

    private void readAnswer() throws IOException {
        String reply = readLine();
        unansweredBytes -= unanswered.remove();
        if (reply.startsWith("-")) {
            throw new TransferException("the receiver refuses a key: " + reply.substring(1));
        }
    }

    /** All bytes that were sent so far. */
    long written() {
        return written;
    }

    // --- bytes

    private void head(char kind, long number) throws IOException {
        byte[] bytes = (kind + Long.toString(number) + "\r\n").getBytes(StandardCharsets.US_ASCII);
        write(bytes, bytes.length);
    }

    private void argument(String word) throws IOException {
        argument(word.getBytes(StandardCharsets.UTF_8));
    }

    private void argument(byte[] bytes) throws IOException {
        head('$', bytes.length);
        write(bytes, bytes.length);
        write(LINE_END, LINE_END.length);
    }

    private void write(byte[] bytes, int count) throws IOException {
        progress();
        out.write(bytes, 0, count);
        written += count;
    }

    private String readLine() throws IOException {
        progress();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the receiver has closed the connection");
            }
            if (line.size() == MAX_LINE_BYTES) {
                throw new TransferException("the receiver has sent a line of more than " + MAX_LINE_BYTES + " bytes");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    private byte[] readBulk(String head) throws IOException {
        byte[] bytes = in.readNBytes(number(head, '$'));
        in.skipNBytes(LINE_END.length);
        return bytes;
    }

    private static int number(String head, char kind) throws IOException {
        if (!head.matches("\\" + kind + "\\d{1,9}") || Integer.parseInt(head.substring(1)) > MAX_BULK_BYTES) {
            throw new TransferException("the receiver has sent \"" + head + "\"");
        }
        return Integer.parseInt(head.substring(1));
    }

    // --- the end

    private void progress() {
        deadlineNanos = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        isResting = false;
    }

    /** Nothing is expected to move until the next command. */
    void rest() {
        isResting = true;
    }

    /** Closes a connection on which nothing moves: a write has no timeout of its own. Any thread. */
    void closeIfLate() {
        if (!isResting && clock.nanoTime() - deadlineNanos > 0) {
            close();
        }
    }

    /** Any thread. */
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
