package io.varve.cluster;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Tests the dependencies between the packages of this module. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.cluster";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void packages_formNoCycle() {
        slices().matching("(io.varve.cluster..)").should().beFreeOfCycles().check(CLASSES);
    }

    /** Servers load the map and the placement without the control plane. */
    @Test
    void theMapIsPure() {
        noClasses().that().resideInAPackage(ROOT + ".map").should().dependOnClassesThat()
                .resideInAnyPackage("org.apache.ratis..", "java.net..", "java.io..").check(CLASSES);
    }

    /** All controllers compute equal placements, so nothing in them may depend on a machine, a clock or chance. */
    @Test
    void thePlacementIsPure() {
        noClasses().that().resideInAPackage(ROOT + ".placement").should().dependOnClassesThat()
                .resideInAnyPackage("org.apache.ratis..", "java.net..", "java.io..", "java.time..").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".placement").should().dependOnClassesThat()
                .haveNameMatching(".*Random.*").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".placement").should().callMethod(System.class, "nanoTime")
                .orShould().callMethod(System.class, "currentTimeMillis").check(CLASSES);
    }
}
