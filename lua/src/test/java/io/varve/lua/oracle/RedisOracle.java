package io.varve.lua.oracle;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The redis-server on the PATH, in a process of its own, with one connection. Confined to the thread of the test.
 */
// Cases that return and cases that go on are mixed, as in the formats that they read.
@SuppressWarnings("StatementSwitchToExpressionSwitch")
public final class RedisOracle implements AutoCloseable {
    private static final long START_NANOS = 10_000_000_000L;

    private final Process process;
    private final Path directory;
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    /** An error reply. */
    public record ErrorReply(String message) {}

    private RedisOracle(Process process, Path directory, Socket socket) throws IOException {
        this.process = process;
        this.directory = directory;
        this.socket = socket;
        in = new BufferedInputStream(socket.getInputStream());
        out = new BufferedOutputStream(socket.getOutputStream(), 65_536);
    }

    /** Starts a server; without one on the PATH the test is skipped, or fails where the tools are required. */
    public static RedisOracle start() throws IOException, InterruptedException {
        String executable = onPath();
        if (executable == null) {
            Assumptions.assumeFalse("1".equals(System.getenv("VARVE_REQUIRE_REDIS_TOOLS")),
                    "redis-server is required");
            Assumptions.abort("no redis-server on the PATH");
            throw new IllegalStateException();
        }
        int port = freePort();
        Path directory = Files.createTempDirectory("varve-lua");
        Process process = new ProcessBuilder(executable, "--port", Integer.toString(port), "--save", "", "--bind",
                "127.0.0.1", "--dir", directory.toString(), "--lua-time-limit", "60000").redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        long deadline = System.nanoTime() + START_NANOS;
        while (true) {
            try {
                return new RedisOracle(process, directory, new Socket(InetAddress.getLoopbackAddress(), port));
            } catch (IOException refused) {
                if (System.nanoTime() > deadline || !process.isAlive()) {
                    process.destroyForcibly();
                    throw refused;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** The reply of EVAL: Long, byte[], null, List or {@link ErrorReply}; simple strings are byte[]. */
    public @Nullable Object eval(byte[] script, byte[]... arguments) throws IOException {
        byte[][] command = new byte[arguments.length + 3][];
        command[0] = "EVAL".getBytes(StandardCharsets.ISO_8859_1);
        command[1] = script;
        command[2] = new byte[] {'0'};
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        return command(command);
    }

    /** The reply of EVAL of a Latin-1 text. */
    public @Nullable Object eval(String script, byte[]... arguments) throws IOException {
        return eval(script.getBytes(StandardCharsets.ISO_8859_1), arguments);
    }

    /** The reply of a command. */
    public @Nullable Object command(byte[]... words) throws IOException {
        write("*" + words.length + "\r\n");
        for (byte[] word : words) {
            write("$" + word.length + "\r\n");
            out.write(word);
            write("\r\n");
        }
        out.flush();
        return read();
    }

    @Override
    public void close() throws IOException {
        socket.close();
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(directory);
    }

    private void write(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private @Nullable Object read() throws IOException {
        int type = in.read();
        String line = readLine();
        switch (type) {
            case '+' :
                return line.getBytes(StandardCharsets.ISO_8859_1);
            case '-' :
                return new ErrorReply(line);
            case ':' :
                return Long.valueOf(line);
            case '$' :
                int length = Integer.parseInt(line);
                if (length < 0) {
                    return null;
                }
                byte[] bytes = in.readNBytes(length);
                readLine();
                return bytes;
            case '*' :
                int count = Integer.parseInt(line);
                if (count < 0) {
                    return null;
                }
                List<@Nullable Object> list = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    list.add(read());
                }
                return list;
            default :
                throw new EOFException("reply of type " + type + ": the server may have ended");
        }
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\r'; c = in.read()) {
            if (c < 0) {
                throw new EOFException();
            }
            line.write(c);
        }
        in.read();
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    private static @Nullable String onPath() {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            File file = new File(folder, "redis-server");
            if (file.canExecute()) {
                return file.getPath();
            }
        }
        return null;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
