package io.varve.experiments.wire;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A blocking connection that speaks RESP2. Confined to one thread, except {@link #close}.
 *
 * <p>{@link #call} reads replies as text, which is enough for INFO, DBSIZE, FLUSHALL and status lines. {@link #execute}
 * keeps their structure, and reads RESP3 too.
 */
public final class RespConnection implements Closeable {
    private static final int TIMEOUT_MILLIS = 30_000;
    /** The length of an absent value, in RESP2. */
    private static final String NONE = "-1";
    /** Length of the prefix of a verbatim string: {@code txt:}. */
    private static final int VERBATIM_KIND = 4;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    public RespConnection(String host, int port) throws IOException {
        this(host, port, TIMEOUT_MILLIS);
    }

    /** @param replyMillis how long a reply is waited for */
    public RespConnection(String host, int port, int replyMillis) throws IOException {
        socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(replyMillis);
            in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
            out = socket.getOutputStream();
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Sends a command and reads its reply: the text of a status or bulk, the digits of an integer.
     *
     * @throws RespErrorException if the reply is an error
     */
    public String call(String... words) throws IOException {
        send(words);
        return readReply();
    }

    /**
     * Sends a command and reads its reply with its structure, in the connection's protocol; {@code HELLO 3} changes it.
     *
     * @throws RespErrorException if the reply, or a part of it, is an error
     */
    public RespValue execute(String... words) throws IOException {
        send(words);
        return readValue();
    }

    private void send(String... words) throws IOException {
        StringBuilder request = new StringBuilder().append('*').append(words.length).append("\r\n");
        for (String word : words) {
            request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        send(request.toString().getBytes(StandardCharsets.ISO_8859_1), request.length());
    }

    private RespValue readValue() throws IOException {
        String line = readLine();
        if (line.isEmpty()) {
            throw new IOException("empty reply line");
        }
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':', ',', '#', '(' -> new RespValue.Text(rest);
            case '-' -> throw new RespErrorException(rest);
            case '!' -> throw new RespErrorException(readBulk(Integer.parseInt(rest)));
            case '_' -> new RespValue.Absent();
            case '$' -> rest.equals(NONE)
                    ? new RespValue.Absent()
                    : new RespValue.Text(readBulk(Integer.parseInt(rest)));
            case '=' -> new RespValue.Text(readBulk(Integer.parseInt(rest)).substring(VERBATIM_KIND));
            case '*' -> rest.equals(NONE) ? new RespValue.Absent() : readValues(Integer.parseInt(rest));
            case '~', '>' -> readValues(Integer.parseInt(rest));
            case '%' -> readValues(2 * Integer.parseInt(rest));
            default -> throw new IOException("not RESP: " + line);
        };
    }

    private RespValue readValues(int count) throws IOException {
        List<RespValue> values = new ArrayList<>();
        for (int left = count; left > 0; left--) {
            values.add(readValue());
        }
        return new RespValue.Array(values);
    }

    /** Sends encoded commands; their replies are read one by one with {@link #readReply}. */
    public void send(byte[] bytes, int length) throws IOException {
        out.write(bytes, 0, length);
        out.flush();
    }

    /** Reads the next reply; a null bulk is empty, an array is the texts of its elements, one a line. */
    public String readReply() throws IOException {
        String line = readLine();
        if (line.isEmpty()) {
            throw new IOException("empty reply line");
        }
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '-' -> throw new RespErrorException(rest);
            case '$' -> readBulk(Integer.parseInt(rest));
            case '*' -> {
                StringBuilder elements = new StringBuilder();
                for (int left = Integer.parseInt(rest); left > 0; left--) {
                    elements.append(readReply()).append('\n');
                }
                yield elements.toString();
            }
            default -> throw new IOException("not RESP2: " + line);
        };
    }

    private String readBulk(int length) throws IOException {
        if (length < 0) {
            return "";
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length != length + 2) {
            throw new EOFException("the server closed the connection within a reply");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection");
            }
            line.append((char) b);
        }
        if (in.read() != '\n') {
            throw new IOException("CR without LF in a reply");
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
