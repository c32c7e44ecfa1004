package io.varve.ycsb;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis on a free port: the redis-server on PATH, else the one that embedded-redis contains. Confined to the
 * test that started it.
 */
final class RedisProcess implements AutoCloseable {
    private static final int TRIES = 5;

    private final Process process;
    private final int port;
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    private RedisProcess(Process process, int port) {
        this.process = process;
        this.port = port;
        this.client = RedisClient.create("redis://localhost:" + port);
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    /** Starts it. Another process may take the free port first, so a few ports are tried. */
    static RedisProcess start(Path directory, String... settings) throws IOException {
        for (int tries = 1;; tries++) {
            try {
                return start(directory, freePort(), settings);
            } catch (IOException failed) {
                if (tries == TRIES) {
                    throw failed;
                }
            }
        }
    }

    private static RedisProcess start(Path directory, int port, String... settings) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(executable(directory), "--port", Integer.toString(port), "--bind",
                        "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.toString()));
        command.addAll(List.of(settings));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder seen = new StringBuilder();
        String line = output.readLine();
        while (line != null && !line.contains("Ready to accept connections")) {
            seen.append(line).append('\n');
            line = output.readLine();
        }
        if (line == null) {
            throw new IOException("redis-server did not start:\n" + seen);
        }
        Thread drain = new Thread(() -> output.lines().forEach(ignored -> {}), "redis-output");
        drain.setDaemon(true);
        drain.start();
        return new RedisProcess(process, port);
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    RedisCommands<byte[], byte[]> commands() {
        return connection.sync();
    }

    /** Sends a command that Lettuce has no method for, and expects a status. */
    void command(String... words) {
        ProtocolKeyword name = () -> words[0].getBytes(StandardCharsets.US_ASCII);
        CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            arguments.add(word);
        }
        commands().dispatch(name, new StatusOutput<>(ByteArrayCodec.INSTANCE), arguments);
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
        process.destroyForcibly().onExit().join();
    }

    private static String executable(Path directory) throws IOException {
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            File file = new File(folder, "redis-server");
            if (file.canExecute()) {
                return file.getPath();
            }
        }
        return ExecutableProvider.newJarResourceProvider(directory.toFile()).get().getPath();
    }
}
