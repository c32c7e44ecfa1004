package io.varve.server.testing;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A RESP client over a plain socket, which hides no part of the server's output. Confined to one thread.
 *
 * <p>A reply is read parsed ({@link #read}) or as its raw bytes ({@link #reply}); text stands for bytes, in ISO 8859-1.
 */
public final class RawClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 60_000;
    private static final int PIPELINE = 100;
    private static final String MARK = "the mark behind the queued commands";
    private static final byte[] LINE_END = {'\r', '\n'};

    private final Socket socket;
    private final InputStream in;
    /** Bytes that have been received and not yet read: from {@code position} to {@code limit}. */
    private final byte[] received = new byte[1 << 16];
    private int position;
    private int limit;
    private final OutputStream out;

    public RawClient(int port) throws IOException {
        this(port, 0);
    }

    public RawClient(String host, int port) throws IOException {
        this(InetAddress.getByName(host), port, 0);
    }

    /**
     * @param receiveBufferBytes how much the kernel may hold for this client; 0: its default
     */
    public RawClient(int port, int receiveBufferBytes) throws IOException {
        this(InetAddress.getLoopbackAddress(), port, receiveBufferBytes);
    }

    private RawClient(InetAddress host, int port, int receiveBufferBytes) throws IOException {
        socket = new Socket();
        if (receiveBufferBytes > 0) {
            socket.setReceiveBufferSize(receiveBufferBytes);
        }
        socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        in = socket.getInputStream();
        out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
    }

    // --- sending

    /** Queues a command. */
    public void write(List<byte[]> arguments) throws IOException {
        writeHead('*', arguments.size());
        for (byte[] argument : arguments) {
            writeHead('$', argument.length);
            out.write(argument);
            out.write(LINE_END);
        }
    }

    private void writeHead(char kind, int number) throws IOException {
        out.write(kind);
        out.write(Integer.toString(number).getBytes(StandardCharsets.ISO_8859_1));
        out.write(LINE_END);
    }

    public void flush() throws IOException {
        out.flush();
    }

    /** Sends bytes as they are. */
    public RawClient send(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
        return this;
    }

    public RawClient send(String latin1) throws IOException {
        return send(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Queues a command of text. */
    public void queue(String... arguments) throws IOException {
        write(Arrays.stream(arguments).map(a -> a.getBytes(StandardCharsets.ISO_8859_1)).toList());
    }

    /** A command as an array of bulks. */
    public static byte[] encode(String... arguments) {
        StringBuilder text = new StringBuilder("*").append(arguments.length).append("\r\n");
        for (String argument : arguments) {
            text.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Tells the server that nothing more will come; replies can still be read. */
    public void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    // --- parsed replies

    public RawReply call(String... arguments) throws IOException {
        return call(Arrays.stream(arguments).map(a -> a.getBytes(StandardCharsets.ISO_8859_1)).toList());
    }

    public RawReply call(List<byte[]> arguments) throws IOException {
        write(arguments);
        flush();
        return read();
    }

    /** Sets the keys {@code PREFIX0}, {@code PREFIX1}, … to {@code VALUE0}, {@code VALUE1}, …, in pipelines. */
    public void setKeys(String prefix, int count, String value) throws IOException {
        for (int from = 0; from < count; from += PIPELINE) {
            int to = Math.min(count, from + PIPELINE);
            for (int i = from; i < to; i++) {
                queue("SET", prefix + i, value + i);
            }
            flush();
            for (int i = from; i < to; i++) {
                assertThat(read().text()).isEqualTo("OK");
            }
        }
    }

    /** Sends the queued commands, and reads all replies: none may be an internal error. */
    public void drain() throws IOException {
        queue("ECHO", MARK);
        flush();
        RawReply reply;
        do {
            reply = read();
            assertThat(reply.isError() && reply.text().contains("internal error")).as(reply.text()).isFalse();
        } while (!reply.text().equals(MARK));
    }

    /** The next reply. */
    public RawReply read() throws IOException {
        String line = readLine();
        char kind = line.charAt(0);
        String head = line.substring(1);
        return switch (kind) {
            case '+', '-', ':', '_', ',', '#', '(' -> new RawReply(kind, head, List.of());
            case '$', '=' -> head.equals("-1")
                    ? new RawReply(kind, "-1 (null)", List.of())
                    : new RawReply(kind, readBulk(Integer.parseInt(head)), List.of());
            case '*', '~', '>' -> head.equals("-1")
                    ? new RawReply(kind, "-1 (null)", List.of())
                    : new RawReply(kind, head, readElements(Integer.parseInt(head)));
            case '%' -> new RawReply(kind, head, readElements(2 * Integer.parseInt(head)));
            default -> throw new IOException("Not a reply: " + line);
        };
    }

    private List<RawReply> readElements(int count) throws IOException {
        List<RawReply> elements = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            elements.add(read());
        }
        return elements;
    }

    private String readBulk(int length) throws IOException {
        return new String(readBulkBytes(length), StandardCharsets.ISO_8859_1);
    }

    private byte[] readBulkBytes(int length) throws IOException {
        byte[] bytes = readBytes(length);
        if (readByte() != '\r' || readByte() != '\n') {
            throw new EOFException("A bulk of " + length + " bytes does not end as it should");
        }
        return bytes;
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            int from = position;
            while (position < limit && received[position] != '\r') {
                position++;
            }
            if (position > from) {
                line.append(new String(received, from, position - from, StandardCharsets.ISO_8859_1));
            }
            if (position < limit) {
                position++;
                if (readByte() != '\n' || line.isEmpty()) {
                    throw new IOException("Not a line of a reply: " + line);
                }
                return line.toString();
            }
            if (!receive()) {
                throw new EOFException("The server closed the connection after: " + line);
            }
        }
    }

    /** Returns the next byte, or -1 at the end. */
    private int readByte() throws IOException {
        return position < limit || receive() ? received[position++] & 0xff : -1;
    }

    /** Receives more bytes after all others have been read. Returns false at the end. */
    private boolean receive() throws IOException {
        position = 0;
        limit = Math.max(0, in.read(received, 0, received.length));
        return limit > 0;
    }

    /** The value of a field of INFO. */
    public String info(String field) throws IOException {
        String all = call("INFO", "everything").text();
        int at = all.indexOf("\n" + field + ":");
        if (at < 0) {
            throw new IOException("INFO has no field " + field);
        }
        return all.substring(at + field.length() + 2, all.indexOf('\r', at + 1));
    }

    public long infoLong(String field) throws IOException {
        return Long.parseLong(info(field));
    }

    /** Whether bytes of a reply are there to be read. */
    public boolean isAnswered() throws IOException {
        return position < limit || in.available() > 0;
    }

    // --- replies as bytes

    /** Sends a command and reads the bytes of one reply. */
    public String command(String... arguments) throws IOException {
        return send(encode(arguments)).reply();
    }

    /** One whole reply as it came, aggregates with their elements. */
    public String reply() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        reply(bytes);
        return bytes.toString(StandardCharsets.ISO_8859_1);
    }

    private void reply(ByteArrayOutputStream bytes) throws IOException {
        String line = readLine();
        bytes.writeBytes((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        char kind = line.charAt(0);
        if (kind == '$' || kind == '=') {
            int length = Integer.parseInt(line.substring(1));
            if (length >= 0) {
                bytes.writeBytes(readBulkBytes(length));
                bytes.write('\r');
                bytes.write('\n');
            }
        } else if ("*~>%".indexOf(kind) >= 0) {
            int count = Integer.parseInt(line.substring(1)) * (kind == '%' ? 2 : 1);
            for (int i = 0; i < count; i++) {
                reply(bytes);
            }
        }
    }

    /** Exactly so many bytes. */
    public String read(int length) throws IOException {
        return new String(readBytes(length), StandardCharsets.ISO_8859_1);
    }

    public byte[] readBytes(int length) throws IOException {
        byte[] bytes = new byte[length];
        int buffered = Math.min(length, limit - position);
        System.arraycopy(received, position, bytes, 0, buffered);
        position += buffered;
        int count = buffered;
        while (count < length) {
            int more;
            if (length - count < received.length) {
                more = receive() ? Math.min(length - count, limit) : -1;
                if (more > 0) {
                    System.arraycopy(received, 0, bytes, count, more);
                    position = more;
                }
            } else {
                more = in.read(bytes, count, length - count);
            }
            if (more < 0) {
                throw new EOFException("The server closed the connection after " + count + " of " + length);
            }
            count += more;
        }
        return bytes;
    }

    /** Everything until the server closes. */
    public String readToEnd() throws IOException {
        String buffered = read(limit - position);
        return buffered + new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
