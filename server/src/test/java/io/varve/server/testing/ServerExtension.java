package io.varve.server.testing;

import java.io.IOException;
import java.time.Duration;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import io.varve.memory.Cache;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Starts a server inside the test's process, connects clients to it, and closes all. Confined to the test's thread,
 * except that a test's other threads may start servers and connect.
 *
 * <pre>{@code @RegisterExtension static final ServerExtension server = ServerExtension.with("maxmemory 64mb");}</pre>
 *
 * <p>A static field starts one server for the class, an instance field one for each test. A setting is a line of the
 * configuration file; the port is free unless a line sets it. Clients and further servers are closed after the test
 * that opened them. A class fails at its end if its servers have logged an error, such as a leaked buffer.
 */
public final class ServerExtension
        implements
            BeforeAllCallback,
            BeforeEachCallback,
            AfterEachCallback,
            AfterAllCallback {
    private static final Duration LETTUCE_TIMEOUT = Duration.ofSeconds(20);
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace
            .create(ServerExtension.class);

    /** Starts a server. */
    @FunctionalInterface
    private interface Starter {
        VarveServer start() throws IOException;
    }

    /** The error log of a class. Confined to the test's thread. */
    private record ErrorLog(LeakWatch watch) implements AutoCloseable {
        @Override
        public void close() {
            try (watch) {
                assertThat(watch.errors()).as("errors in the server's log").isEmpty();
            }
        }
    }

    private final @Nullable Starter starter;
    private final boolean hasReference;
    /** In the order in which they were opened. */
    private final Deque<AutoCloseable> ofClass = new ConcurrentLinkedDeque<>();
    private final Deque<AutoCloseable> ofTest = new ConcurrentLinkedDeque<>();
    private Deque<AutoCloseable> opened = ofTest;
    private boolean isForClass;
    private @Nullable VarveServer server;
    private @Nullable ReferenceRedis reference;

    private ServerExtension(@Nullable Starter starter, boolean hasReference) {
        this.starter = starter;
        this.hasReference = hasReference;
    }

    /** A server with these settings. */
    public static ServerExtension with(String... settings) {
        return of(config(settings));
    }

    public static ServerExtension of(ServerConfig config) {
        return new ServerExtension(() -> VarveServer.start(config), false);
    }

    /** A server over a cache that holds nothing, for tests that store no keys. */
    public static ServerExtension withStubCache(String... settings) {
        ServerConfig config = config(settings);
        return new ServerExtension(() -> VarveServer.start(config, StubCache.create(config.cacheConfig())), false);
    }

    /** A server with these settings, and a real Redis to compare it with. */
    public static ServerExtension withReference(String... settings) {
        ServerConfig config = config(settings);
        return new ServerExtension(() -> VarveServer.start(config), true);
    }

    /** No server, for tests that {@link #start} their own. */
    public static ServerExtension withoutServer() {
        return new ServerExtension(null, false);
    }

    /** A configuration of these lines, with a free port. */
    public static ServerConfig config(String... settings) {
        ServerConfig config = ServerConfig.defaults().with("port", "0");
        for (String setting : settings) {
            String[] words = setting.split(" ", 2);
            config = config.with(words[0], words[1]);
        }
        return config.validate();
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException, InterruptedException {
        isForClass = true;
        watch(context);
        opened = ofClass;
        startConfigured(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException, InterruptedException {
        opened = ofTest;
        if (!isForClass) {
            watch(context.getParent().orElseThrow());
            startConfigured(context);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        closeAll(ofTest);
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        closeAll(ofClass);
    }

    /** JUnit closes what its store has after the class, and after this extension. */
    private static void watch(ExtensionContext classContext) {
        classContext.getStore(NAMESPACE).computeIfAbsent(ErrorLog.class, _ -> new ErrorLog(new LeakWatch()));
    }

    private void startConfigured(ExtensionContext context) throws IOException, InterruptedException {
        if (hasReference) {
            reference = opened(ReferenceRedis.start());
            System.out.println(context.getRequiredTestClass().getSimpleName() + " compares with " + reference);
        }
        if (starter != null) {
            server = opened(starter.start());
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.add(resource);
        return resource;
    }

    /** Closes the last first, so clients before their server, and all even if one fails. */
    private static void closeAll(Deque<AutoCloseable> resources) throws Exception {
        AutoCloseable last = resources.pollLast();
        if (last == null) {
            return;
        }
        try {
            last.close();
        } finally {
            closeAll(resources);
        }
    }

    public VarveServer server() {
        return Objects.requireNonNull(server, "This extension starts no server by itself");
    }

    public int port() {
        return server().port();
    }

    public ReferenceRedis reference() {
        return Objects.requireNonNull(reference, "This extension starts no reference");
    }

    /** Another client. */
    public RawClient connect() throws IOException {
        return connect(server());
    }

    public RawClient connect(VarveServer to) throws IOException {
        return opened(new RawClient(to.port()));
    }

    /** Another Lettuce client, with its own threads. */
    public StatefulRedisConnection<String, String> connectLettuce(ProtocolVersion protocol) {
        RedisClient client = opened(RedisClient.create(
                RedisURI.builder().withHost("127.0.0.1").withPort(port()).withTimeout(LETTUCE_TIMEOUT).build()));
        client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
        return opened(client.connect());
    }

    /** Starts a further server with these settings. */
    public VarveServer start(String... settings) throws IOException {
        return start(config(settings));
    }

    public VarveServer start(ServerConfig config) throws IOException {
        return opened(VarveServer.start(config));
    }

    /** Starts a further server over a cache that holds nothing. */
    public VarveServer startWithStubCache(ServerConfig config) throws IOException {
        return start(config, StubCache.create(config.cacheConfig()));
    }

    public VarveServer start(ServerConfig config, Cache cache) throws IOException {
        return opened(VarveServer.start(config, cache));
    }

    public VarveServer start(ServerConfig config, Tiers tiers) throws IOException {
        return opened(VarveServer.start(config, tiers));
    }

    /** Closes the server before the test ends, and starts another one in its place. */
    public void replace(VarveServer other) {
        server().close();
        server = other;
    }
}
