package io.varve.proxy.testing;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.varve.proxy.ProxyServer;
import io.varve.proxy.ProxySettings;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.map.Endpoint;
import io.varve.proxy.resp.Reply;

import static org.awaitility.Awaitility.await;

/** A proxy in the test's process, and the members that it forwards to. Confined to the test's thread. */
public final class TestProxy implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;

    private final ProxyServer proxy;
    private final List<RedisMember> members;

    private TestProxy(ProxyServer proxy, List<RedisMember> members) {
        this.proxy = proxy;
        this.members = members;
    }

    /** A proxy over so many plain servers. */
    public static TestProxy overServers(int members, String... options) throws IOException {
        List<RedisMember> started = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            started.add(RedisMember.start());
        }
        return over(started, options);
    }

    /** A proxy over a cluster. */
    public static TestProxy overCluster(int members, String... options) throws IOException, InterruptedException {
        return over(RedisMember.startCluster(members), options);
    }

    /** A proxy over these members, which it closes. */
    public static TestProxy over(List<RedisMember> members, String... options) throws IOException {
        return at(members.stream().map(RedisMember::address).collect(Collectors.joining(",")), members, options);
    }

    /** A proxy over members at these addresses; it closes the members. */
    public static TestProxy at(String addresses, List<RedisMember> members, String... options) throws IOException {
        TestProxy proxy = start("--members", addresses, members, options);
        try (BlockingConnection connection = proxy.connect()) {
            boolean isOpen = Arrays.stream(options).noneMatch("--requirepass"::equals);
            await().atMost(Duration.ofSeconds(20)).until(
                    () -> !isOpen || connection.call("INFO", "members").textOrEmpty().contains("assigned_slots:16384"));
        }
        return proxy;
    }

    /** A proxy over members of a controller's cluster, which may have no slots yet; it closes the members. */
    public static TestProxy following(TestController controller, List<RedisMember> members, String... options)
            throws IOException {
        return start("--controllers", controller.address(), members, options);
    }

    private static TestProxy start(String source, String addresses, List<RedisMember> members, String... options)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--port", "0", "--io-threads", "2", source, addresses));
        arguments.addAll(Arrays.asList(options));
        return new TestProxy(ProxyServer.start(ProxySettings.read(arguments)), members);
    }

    public int port() {
        return proxy.port();
    }

    public List<RedisMember> members() {
        return members;
    }

    /** A new connection to the proxy. */
    public BlockingConnection connect() throws IOException {
        return new BlockingConnection(new Endpoint("127.0.0.1", proxy.port()), TIMEOUT_MILLIS, null);
    }

    /** The reply to a command on a new connection. */
    public Reply call(String... words) throws IOException {
        try (BlockingConnection connection = connect()) {
            return connection.call(words);
        }
    }

    /** The number of a field of INFO. */
    public long info(String field) throws IOException {
        String text = "\r\n" + call("INFO").textOrEmpty();
        int at = text.indexOf("\r\n" + field + ":") + field.length() + 3;
        return Long.parseLong(text.substring(at, text.indexOf('\r', at)));
    }

    @Override
    public void close() {
        proxy.close();
        members.forEach(RedisMember::close);
    }
}
