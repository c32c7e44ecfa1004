package io.varve.server.command;

import org.junit.jupiter.api.AfterEach;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Base of tests with their own {@link CommandHarness}; checks the cache's integrity after each test. Confined to the
 * test's thread.
 */
public abstract class HarnessTest {
    /** The server under test: a test that needs another closes it first. */
    protected CommandHarness server;

    protected HarnessTest() {
        this(new CommandHarness());
    }

    protected HarnessTest(CommandHarness server) {
        this.server = server;
    }

    @AfterEach
    final void closeSound() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    /** The reply on one line. */
    protected final String execute(String... command) {
        return server.run(command).replace("\r\n", " ").strip();
    }

    /** Runs a command whose words are separated by blanks. */
    protected final String execute(String command) {
        return execute(command.split(" "));
    }

    protected final void expect(String command, String expected) {
        assertThat(execute(command)).as(command).isEqualTo(expected);
    }

    /** The reply of OBJECT ENCODING. */
    protected final String encodingOf(String key) {
        return execute("OBJECT", "ENCODING", key).replaceFirst(".* ", "");
    }

    protected final boolean isTree(String key) {
        return TreeSnapshot.isTree(server, key);
    }

    /** Fills a server that evicts nothing with values like this one. */
    protected static void fill(CommandHarness full, String piece) {
        for (int i = 0; full.run("SET", "fill" + i, piece).startsWith("+"); i++) {
            assertThat(i).isLessThan(1000);
        }
    }
}
