package io.varve.ycsb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.option.VarveOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests a command whose connection is lost before its reply: it fails, and is not sent again over the next one. A
 * repeated fill, after the write that waited for it, would restore the value that the write has replaced.
 */
class ConnectionLossTest {

    private static final long WAIT_SECONDS = 30;
    private static final int CLIENTS = 4;

    private final BlockingQueue<List<String>> received = new LinkedBlockingQueue<>();
    private ServerSocket listening;
    private Thread server;

    /** An old server without a key, which hangs up where it should answer a SET. */
    private void serve() {
        while (true) {
            try {
                Socket socket = listening.accept();
                Thread answering = new Thread(() -> answerAll(socket), "answering");
                answering.setDaemon(true);
                answering.start();
            } catch (IOException e) {
                if (listening.isClosed()) {
                    return;
                }
                throw new UncheckedIOException(e);
            }
        }
    }

    private void answerAll(Socket socket) {
        try (socket) {
            answer(socket);
        } catch (IOException e) {
            // The client has disconnected in the middle of a command, which is allowed.
            return;
        }
    }

    private void answer(Socket socket) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        for (List<String> command = command(reader); command != null; command = command(reader)) {
            if (command.get(0).equals("SET")) {
                received.add(command);
                return;
            }
            String reply = switch (command.get(0)) {
                case "HELLO" -> "-ERR unknown command\r\n";
                case "GET" -> "$-1\r\n";
                default -> "+OK\r\n";
            };
            if (command.get(0).equals("GET")) {
                received.add(command);
            }
            socket.getOutputStream().write(reply.getBytes(UTF_8));
        }
    }

    /** Null at the connection's end. */
    private static @Nullable List<String> command(BufferedReader reader) throws IOException {
        String words = reader.readLine();
        if (words == null) {
            return null;
        }
        List<String> command = new ArrayList<>();
        for (int i = Integer.parseInt(words.substring(1)); i > 0; i--) {
            reader.readLine();
            command.add(reader.readLine());
        }
        return command;
    }

    @BeforeEach
    void listen() throws IOException {
        listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        server = new Thread(this::serve, "server");
        server.setDaemon(true);
        server.start();
    }

    @AfterEach
    void close() throws Exception {
        listening.close();
        server.join(1000 * WAIT_SECONDS);
    }

    private Connection connect() throws RefusedException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", listening.getInetAddress().getHostAddress());
        properties.setProperty("varve.port", String.valueOf(listening.getLocalPort()));
        return Connection.open(VarveOptions.parse(properties));
    }

    @Test
    @Timeout(2 * WAIT_SECONDS)
    void aCommandWithoutAReplyFailsAndIsNotSentAgain() throws Exception {
        try (Connection connection = connect()) {
            RedisFuture<String> set = connection.queue().set("key".getBytes(UTF_8), "old".getBytes(UTF_8));
            connection.flush();
            assertThatThrownBy(() -> connection.reply(set)).isInstanceOf(RedisException.class)
                    .isNotInstanceOfAny(RedisCommandTimeoutException.class, RedisCommandInterruptedException.class);
            assertThat(received.poll(WAIT_SECONDS, TimeUnit.SECONDS)).containsExactly("SET", "key", "old");
            assertThat(getOverTheNextConnection(connection)).isNull();
            assertThat(received.poll(WAIT_SECONDS, TimeUnit.SECONDS)).as("what comes first").containsExactly("GET",
                    "key");
        }
        assertThat(received).isEmpty();
    }

    /** The resources that all connections of a process share stay until the last one is closed. */
    @Test
    @Timeout(2 * WAIT_SECONDS)
    void closedConnectionDoesNotAffectOthers() throws Exception {
        try (Connection first = connect()) {
            connect().close();
            connect().close();
            RedisFuture<String> set = first.queue().set("key".getBytes(UTF_8), "old".getBytes(UTF_8));
            first.flush();
            assertThatThrownBy(() -> first.reply(set)).isInstanceOf(RedisException.class);
            assertThat(getOverTheNextConnection(first)).isNull();
        }
    }

    @Test
    @Timeout(2 * WAIT_SECONDS)
    void allThatFindNoServerAreRefused() throws Exception {
        listening.close();
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try {
            Callable<Connection> connecting = this::connect;
            List<Future<Connection>> refused = threads.invokeAll(Collections.nCopies(10 * CLIENTS, connecting));
            for (Future<Connection> each : refused) {
                assertThatThrownBy(each::get).hasCauseInstanceOf(RefusedException.class)
                        .hasMessageContaining("no connection to varve.host=").hasMessageContaining("refused");
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Until there is one each is an error, and none of them waits to be sent. */
    private static byte @Nullable [] getOverTheNextConnection(Connection connection) {
        for (long start = System.nanoTime();;) {
            try {
                connection.run();
                RedisFuture<byte[]> get = connection.queue().get("key".getBytes(UTF_8));
                connection.flush();
                return connection.reply(get);
            } catch (RedisException e) {
                if (Thread.currentThread().isInterrupted()
                        || System.nanoTime() - start > TimeUnit.SECONDS.toNanos(WAIT_SECONDS)) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }
}
