# Golden values of the inference tests. R 4.2.2, boot 1.3-28.1:  Rscript inference.R > inference.json
library(boot)
delta <- c(.3, .4, -.6, -.6, -.4, -.4, -.7, .1, 0, -.8, -.2, 0, -.1, -.1, -.7)  # thesis Table 2.9
skewed <- ifelse(delta < 0, 5 * delta, delta)
# thesis Table 2.5's two systems and a third, on fifteen topics
s1 <- c(.4, .5, .1, .2, .2, .2, 0, .4, .3, 0, .5, .1, .4, 0, .1)
s2 <- c(.1, .1, .7, .8, .6, .6, .7, .3, .3, .8, .7, .1, .5, .1, .8)
s3 <- c(.3, .2, .4, .4, .5, .3, .2, .4, .1, .5, .6, .2, .3, .2, .4)
list_of <- function(x) paste0("[", paste(sprintf("%.12g", x), collapse = ", "), "]")
emit <- function(name, x, last = FALSE)
  cat(sprintf('  "%s": %s%s\n', name, list_of(x), if (last) "" else ","))

cat("{\n")
for (case in c("delta", "skewed")) {
  x <- get(case)
  set.seed(1)
  b <- boot(x, function(d, i) { s <- d[i]; c(mean(s), var(s) / length(s)) }, R = 999999)
  influence <- (length(x) - 1) * (mean(x) - (sum(x) - x) / (length(x) - 1))
  emit(paste0("bca_", case), boot.ci(b, type = "bca", L = influence)$bca[4:5])
  ci <- boot.ci(b, type = c("basic", "perc"))
  emit(paste0("basic_", case), ci$basic[4:5])
  emit(paste0("percentile_", case), ci$percent[4:5])
  use <- is.finite(b$t[, 2]) & b$t[, 2] > 0
  emit(paste0("studentized_", case),
       boot.ci(b, type = "stud", var.t0 = var(x) / length(x),
               t0 = mean(x), t = b$t[use, 1], var.t = b$t[use, 2])$student[4:5])
}
d <- data.frame(score = c(s1, s2, s3), system = factor(rep(c("s1", "s2", "s3"), each = 15)),
                topic = factor(rep(1:15, 3)))
fit <- aov(score ~ system + topic, d)
emit("anova_ss", summary(fit)[[1]][["Sum Sq"]])
emit("anova_f", summary(fit)[[1]][["F value"]][1:2])
emit("anova_p", summary(fit)[[1]][["Pr(>F)"]][1:2])
hsd <- TukeyHSD(fit, "system")$system   # rows s2-s1, s3-s1, s3-s2
emit("tukey_difference", hsd[, "diff"])
emit("tukey_low", hsd[, "lwr"])
emit("tukey_high", hsd[, "upr"])
emit("tukey_p", hsd[, "p adj"])
p <- c(.012, .0004, .21, .03, .03, .9, .049)
for (m in c("bonferroni", "holm", "BH")) emit(paste0("adjust_", m), p.adjust(p, m))
w <- shapiro.test(skewed)
emit("shapiro", c(w$statistic, w$p.value))
power <- power.t.test(delta = .5, sd = 1, power = .8, type = "paired", strict = TRUE)
emit("power_n", power$n)
emit("power_at_20", power.t.test(n = 20, delta = .5, sd = 1, type = "paired", strict = TRUE)$power,
     last = TRUE)
cat("}\n")
