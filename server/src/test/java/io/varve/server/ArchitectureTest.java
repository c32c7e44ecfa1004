package io.varve.server;

import java.util.List;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** The walls between the rooms of the server. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.server";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void roomsFormNoCycle() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void noRoomKnowsTheCompositionRoot() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat().resideInAPackage(ROOT)
                .check(CLASSES);
    }

    @Test
    void theProtocolKnowsNoOtherRoom() {
        for (String other : List.of("command", "admin", "config", "net", "pubsub")) {
            forbid("resp", other);
        }
    }

    @Test
    void settingsKnowNoOtherRoom() {
        for (String other : List.of("command", "admin", "resp", "net", "pubsub")) {
            forbid("config", other);
        }
    }

    @Test
    void usersKnowNeitherCommandsNorProtocol() {
        for (String other : List.of("command", "admin", "resp", "net")) {
            forbid("acl", other);
        }
    }

    @Test
    void whatIsAskedOfTheSystemKnowsNoOtherRoom() {
        for (String other : List.of("admin", "command", "config", "net", "pubsub", "resp")) {
            forbid("system", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".system").should().dependOnClassesThat()
                .resideInAPackage("io.varve.memory..").check(CLASSES);
    }

    @Test
    void geometryKnowsNoOtherRoom() {
        for (String other : List.of("admin", "command", "config", "net", "resp", "system")) {
            forbid("geo", other);
        }
    }

    @Test
    void payloadsKnowNumbersAndNothingElse() {
        for (String other : List.of("acl", "admin", "blocking", "command", "config", "keys", "net", "pubsub",
                "system")) {
            forbid("rdb", other);
        }
    }

    @Test
    void whatIsMeasuredKnowsNeitherCommandsNorProtocol() {
        for (String other : List.of("command", "resp", "net", "pubsub")) {
            forbid("admin", other);
        }
    }

    @Test
    void messagesKnowHowTheyAreWrittenAndNothingElse() {
        for (String other : List.of("command", "admin", "config", "net", "system")) {
            forbid("pubsub", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".pubsub").should().dependOnClassesThat()
                .resideInAnyPackage("io.varve.memory", "io.varve.memory.shard..", "io.varve.memory.segment..")
                .check(CLASSES);
    }

    @Test
    void whoWaitsForKeysKnowsNeitherCommandsNorProtocol() {
        for (String other : List.of("admin", "command", "config", "net", "resp")) {
            forbid("blocking", other);
            forbid("keys", other);
        }
    }

    @Test
    void whatHappensToKeysKnowsNoCommands() {
        for (String other : List.of("acl", "admin", "blocking", "command", "net")) {
            forbid("events", other);
            forbid("tracking", other);
        }
    }

    @Test
    void commandsKnowNoChannels() {
        forbid("command", "net");
    }

    /** Those of clients, and those of the HTTP endpoint for operators. */
    @Test
    void channelsStayInTheirRoom() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty.channel..", "io.netty.bootstrap..", "io.netty.util..").check(CLASSES);
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".resp..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..").check(CLASSES);
    }

    @Test
    void onlyWhatIsMeasuredKnowsTheMetricsLibrary() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".admin").should().dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..", "io.prometheus..").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".admin").should().dependOnClassesThat()
                .resideInAPackage(ROOT + ".admin.http..").check(CLASSES);
    }

    @Test
    void onlyTheRootOpensTheCacheAndTheNetwork() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().callMethodWhere(named("io.varve.memory.Cache",
                "open")).orShould().callMethodWhere(named(ROOT + ".net.NetworkServer", "start")).check(CLASSES);
    }

    @Test
    void timeIsInjected() {
        noClasses().should().callMethod(System.class, "currentTimeMillis").check(CLASSES);
        // The threads of maintenance and of hiccups pace themselves, and DEBUG SLEEP sleeps: none tells anyone the time.
        noClasses().that().doNotHaveSimpleName("Maintenance").and().doNotHaveSimpleName("HiccupMeter").and()
                .doNotHaveSimpleName("ObjectCommands").should().callMethod(System.class, "nanoTime").check(CLASSES);
    }

    @Test
    void theWireIsNoDoorToRawMemory() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".system").should().dependOnClassesThat()
                .haveNameMatching("java\\.lang\\.foreign\\.(Arena|Linker|SymbolLookup)")
                .check(CLASSES);
        noClasses().should().dependOnClassesThat(new DescribedPredicate<JavaClass>("sun.misc.Unsafe") {
            @Override
            public boolean test(JavaClass used) {
                return used.getName().equals("sun.misc.Unsafe");
            }
        }).check(CLASSES);
    }

    @Test
    void everyRoomSaysWhatLivesInIt() {
        classes().that().resideInAPackage(ROOT + "..").should().resideInAnyPackage(ROOT, ROOT + ".admin",
                ROOT + ".admin.http", ROOT + ".acl", ROOT + ".blocking", ROOT + ".command", ROOT + ".config",
                ROOT + ".events", ROOT + ".geo", ROOT + ".keys", ROOT + ".net", ROOT + ".pubsub", ROOT + ".rdb",
                ROOT + ".resp",
                ROOT + ".system",
                ROOT + ".tls", ROOT + ".tracking").check(CLASSES);
    }

    private static DescribedPredicate<com.tngtech.archunit.core.domain.JavaMethodCall> named(String owner,
            String method) {
        return DescribedPredicate.describe(owner + "." + method, call -> call.getTargetOwner().getName().equals(owner)
                && call.getName().equals(method));
    }

    private static void forbid(String room, String other) {
        noClasses().that().resideInAPackage(ROOT + "." + room + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "." + other + "..").check(CLASSES);
    }
}
