package io.varve.server.training;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;

import org.jspecify.annotations.Nullable;

/**
 * A client that asks for a snapshot and for all further changes, as a replica does, and keeps neither. Confined to one
 * thread; its own thread reads.
 */
final class TrainingReplica implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final String MARK_PREFIX = "$EOF:";

    private final Socket socket;
    private final InputStream in;
    private final CountDownLatch loaded = new CountDownLatch(1);
    private final Thread reader;
    private volatile @Nullable IOException failure;
    private volatile boolean isClosed;
    private long offset;

    /** Attaches a replica, which then reads a snapshot. */
    TrainingReplica(SocketFactory sockets, int port) throws IOException {
        socket = sockets.createSocket(InetAddress.getLoopbackAddress(), port);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        reader = Thread.ofPlatform().daemon().name("training-replica").unstarted(this::read);
        try {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.setTcpNoDelay(true);
            ask("PING");
            ask("REPLCONF listening-port 1");
            ask("REPLCONF capa eof capa psync2");
            String[] answer = ask("PSYNC ? -1").split(" ", -1);
            offset = Long.parseLong(answer[2]);
        } catch (IOException | RuntimeException failed) {
            socket.close();
            throw failed;
        }
        reader.start();
    }

    private void send(String line) throws IOException {
        StringBuilder command = new StringBuilder();
        String[] words = line.split(" ", -1);
        command.append('*').append(words.length).append("\r\n");
        for (String word : words) {
            command.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    private String ask(String line) throws IOException {
        send(line);
        String reply = readLine();
        if (!reply.startsWith("+")) {
            throw new IOException(line + " was answered with " + reply);
        }
        return reply;
    }

    /** The next line that is not empty: an empty one only shows that the primary is alive. */
    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        int read = in.read();
        while (read >= 0 && (read != '\n' || line.isEmpty())) {
            if (read != '\r' && read != '\n') {
                line.append((char) read);
            }
            read = in.read();
        }
        if (read < 0) {
            throw new EOFException("the server closed the connection of a replica");
        }
        return line.toString();
    }

    private void read() {
        try {
            skipSnapshot();
            send("REPLCONF ACK " + offset);
            loaded.countDown();
            byte[] changes = new byte[BUFFER_BYTES];
            for (int read = in.read(changes); read >= 0; read = in.read(changes)) {
                offset += read;
                send("REPLCONF ACK " + offset);
            }
        } catch (IOException failed) {
            failure = isClosed ? null : failed;
        } finally {
            loaded.countDown();
        }
    }

    private void skipSnapshot() throws IOException {
        String head = readLine();
        if (!head.startsWith(MARK_PREFIX)) {
            throw new IOException("a snapshot began with " + head);
        }
        byte[] mark = head.substring(MARK_PREFIX.length()).getBytes(StandardCharsets.ISO_8859_1);
        // The mark is random: no beginning of it occurs within itself.
        for (int matched = 0; matched < mark.length;) {
            int read = in.read();
            if (read < 0) {
                throw new EOFException("the server ended a snapshot");
            }
            matched = read == mark[matched] ? matched + 1 : read == mark[0] ? 1 : 0;
        }
    }

    /** Waits until it has the snapshot. */
    void awaitSnapshot() throws IOException {
        try {
            if (!loaded.await(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IOException("a replica waits for its snapshot");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", interrupted);
        }
        IOException failed = failure;
        if (failed != null) {
            throw failed;
        }
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        socket.close();
        try {
            reader.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
