package io.varve.proxy.client;

/**
 * What the proxy knows about a client beside its requests. The event loop of the client writes it; CLIENT LIST of any
 * client reads it, so the fields are volatile.
 */
final class ClientProfile {
    private static final int RESP2 = 2;

    private final long id;
    private final String address;
    private final String localAddress;
    private final long connectedNanos = System.nanoTime();
    private volatile int protocol = RESP2;
    private volatile boolean authenticated;
    private volatile boolean listening;
    private volatile String name = "";
    private volatile String library = "";
    private volatile String libraryVersion = "";
    private volatile String lastCommand = "NULL";

    ClientProfile(long id, String address, String localAddress, boolean authenticated) {
        this.id = id;
        this.address = address;
        this.localAddress = localAddress;
        this.authenticated = authenticated;
    }

    long id() {
        return id;
    }

    String address() {
        return address;
    }

    int protocol() {
        return protocol;
    }

    void protocol(int version) {
        protocol = version;
    }

    boolean isAuthenticated() {
        return authenticated;
    }

    void authenticated(boolean value) {
        authenticated = value;
    }

    /** Whether it has subscribed to anything. */
    boolean isListening() {
        return listening;
    }

    void listening(boolean value) {
        listening = value;
    }

    String name() {
        return name;
    }

    void name(String value) {
        name = value;
    }

    void library(String value) {
        library = value;
    }

    void libraryVersion(String value) {
        libraryVersion = value;
    }

    void lastCommand(String value) {
        // A volatile write costs more than a comparison.
        if (!lastCommand.equals(value)) {
            lastCommand = value;
        }
    }

    /** Its line of CLIENT LIST. */
    String line() {
        long age = java.util.concurrent.TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - connectedNanos);
        return "id=" + id + " addr=" + address + " laddr=" + localAddress + " name=" + name + " age=" + age
                + " db=0 cmd="
                + lastCommand + " user=default lib-name=" + library + " lib-ver=" + libraryVersion + " resp="
                + protocol;
    }
}
