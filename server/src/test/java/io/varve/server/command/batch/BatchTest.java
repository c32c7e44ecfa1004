package io.varve.server.command.batch;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.spec.CommandSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The remainder of a batch that waits. Confined to the test's thread. */
class BatchTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        server.close();
    }

    /** A command's arguments, its keys, and the spec found under its name. Immutable. */
    private record Lookup(List<String> arguments, List<String> keys, String spec) {
        static List<Lookup> at(Batch batch, int from) {
            List<Lookup> looks = new ArrayList<>();
            for (int command = from; command < batch.commandCount(); command++) {
                List<String> arguments = new ArrayList<>();
                for (int i = 0; i < batch.argumentCount(command); i++) {
                    int argument = batch.firstArgument(command) + i;
                    arguments.add(batch.address(argument) + "+" + batch.length(argument));
                }
                List<String> keys = new ArrayList<>();
                for (int i = 0; i < batch.keyCount(command); i++) {
                    int key = batch.firstKey(command) + i;
                    keys.add(batch.keyArgument(key) + " at " + batch.key(key).address() + "+"
                            + batch.key(key).length() + " " + batch.key(key).hash());
                }
                CommandSpec spec = batch.spec(command);
                looks.add(new Lookup(arguments, keys, spec == null ? "none" : spec.fullName()));
            }
            return looks;
        }
    }

    private Batch someCommands() {
        server.begin();
        server.add("MSET", "a", "1", "b", "2", "c", "3");
        server.add("PING");
        server.add("GET", "a");
        server.add("NOSUCH", "x");
        server.add("GET");
        server.add("ECHO", "hello");
        server.add("MGET", "a", "b", "c");
        server.add("SORT", "a", "STORE", "b");
        server.add("CLIENT", "ID");
        server.add("DEL", "a", "b");
        server.add("NOSUCH", "y");
        server.add("GET", "a", "b");
        server.add("PING");
        return server.prepare();
    }

    @Test
    void remainingCommandsSurviveSlimming() {
        Batch whole = someCommands();
        List<Lookup> all = Lookup.at(whole, 0);
        for (int first = 0; first <= whole.commandCount(); first++) {
            Batch once = whole.slim(first);
            assertThat(once.isSlim()).isTrue();
            assertThat(Lookup.at(once, 0)).as("from %d", first).isEqualTo(all.subList(first, all.size()));
            for (int second = 0; second <= once.commandCount(); second++) {
                Batch twice = once.slim(second);
                int from = twice.equals(once) ? second : 0;
                assertThat(Lookup.at(twice, from)).as("from %d and %d", first, second)
                        .isEqualTo(all.subList(first + second, all.size()));
            }
        }
    }

    @Test
    void keysOfCommandsThatHaveRunAreNotTakenAlong() {
        Batch rest = someCommands().slim(1);
        assertThat(rest.keyTotal()).isEqualTo(8);
    }
}
